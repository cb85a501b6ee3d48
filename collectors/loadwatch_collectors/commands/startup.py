"""Reads the configuration that a command is given."""

from pathlib import Path

from loadwatch_collectors.commands.builtin_config import BUILTIN_NAME, make_builtin_config
from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.settings_loader import parse_document, read_document
from loadwatch_collectors.sources.registry import sources_by_name


def read_config(path: Path | None) -> AgentConfig:
    """The configuration in a file, or the built-in one.

    Raises:
        ConfigError: anything in it is wrong.
    """
    document = parse_document(make_builtin_config(), BUILTIN_NAME) if path is None else read_document(path)
    return load_config(document, sources_by_name())
