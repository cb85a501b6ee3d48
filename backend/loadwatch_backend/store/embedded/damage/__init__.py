"""Blocks of the file that a disk damaged: found, told and set aside, so that all else goes on."""
