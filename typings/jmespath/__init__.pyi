from typing import Any

from jmespath.functions import Functions

class Options:
    def __init__(self, *, custom_functions: Functions) -> None: ...

class _Expression:
    def search(self, value: Any, options: Options | None = None) -> Any: ...

def compile(expression: str) -> _Expression: ...
