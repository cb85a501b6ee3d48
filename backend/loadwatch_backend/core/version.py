"""The version of the installed distribution, and of this build of it."""

from importlib.metadata import version

from loadwatch_formats.build_version import build_version

RELEASE = version("loadwatch")
VERSION = build_version()
