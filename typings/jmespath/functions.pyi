from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class Functions: ...

def signature(*arguments: dict[str, list[str]]) -> Callable[[_F], _F]: ...
