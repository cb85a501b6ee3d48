from collections.abc import Mapping
from typing import Any

def __getattr__(name: str) -> type[Exception]: ...

class ClientError(Exception):
    response: Mapping[str, Any]
    operation_name: str
