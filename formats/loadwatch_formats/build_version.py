"""Which build this is: the released version and a digest of the product's own files, with and without git.

So two builds call themselves the same only where they are the same, whoever made them and from whatever tree.
"""

import functools
import hashlib
import os
from importlib.metadata import version
from importlib.util import find_spec

PACKAGES = ("loadwatch_formats", "loadwatch_collectors", "loadwatch_backend")


@functools.cache
def build_version() -> str:
    """For example `0.1.0+3f2a9c01d4be`; reads some megabytes."""
    folders = [
        folder for name in PACKAGES if (spec := find_spec(name)) for folder in spec.submodule_search_locations or ()
    ]
    return f"{version('loadwatch')}+{digest_of(folders)}"


def digest_of(folders: list[str]) -> str:
    """Of names and contents of all files but compiled ones."""
    digest = hashlib.sha256()
    for folder in folders:
        for at, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(at, name)
                with open(path, "rb") as file:
                    content = file.read()
                digest.update(f"{os.path.relpath(path, folder)}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()[:12]
