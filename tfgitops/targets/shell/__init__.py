"""The shell: how a command that is written as text runs in a container.

Question                                                              Module
Which command runs a text, and which text does a command run?         command
What in a text surely does something else than was meant?             shellfaults
Which words and commands does a text consist of?                      shelltokens
"""
