from collections.abc import Mapping

class AWSRequest:
    headers: Mapping[str, str]
    def __init__(self, *, method: str, url: str, data: bytes, headers: Mapping[str, str]) -> None: ...
