"""What Loadwatch knows of each technology, as data: a folder for each, described in docs/guide/packs.md."""

from pathlib import Path

FOLDER = Path(__file__).parent
