import sys

print(sys.argv, "${HOME}")
