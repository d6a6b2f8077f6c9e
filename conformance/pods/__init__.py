"""Plays one Volcano Job on this machine: each pod is a process with its own network, host name, processes and root."""
