"""Profiles: where a process spends its time, its memory and its waiting, read from the formats of several tools."""
