"""The command line: each group of commands is a module."""
