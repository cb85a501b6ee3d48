"""Libraries that are large and rarely needed, loaded when something of them is first used."""

import importlib
from typing import Any


class Deferred:
    """Stands for a module: `pa = Deferred("pyarrow")` instead of `import pyarrow as pa`.

    pyarrow alone is 30 MB of a server that reads no records. Whether the library is installed shows at its first use.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, found)  # the next use finds it without coming here
        return found
