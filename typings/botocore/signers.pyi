from collections.abc import Mapping
from typing import Any

class RequestSigner:
    def __init__(
        self,
        service_id: object,
        region_name: str,
        signing_name: str,
        signature_version: str,
        credentials: object,
        event_emitter: Any,
    ) -> None: ...
    def generate_presigned_url(
        self, request_dict: Mapping[str, Any], operation_name: str, expires_in: int = ...
    ) -> str: ...
