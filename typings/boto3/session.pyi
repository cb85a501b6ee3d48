"""What of boto3's session we use; a client has its methods from AWS's descriptions, so it is Any."""

from typing import Any

from botocore.config import Config
from botocore.session import Session as Core

class Session:
    events: Any
    region_name: str | None
    def __init__(
        self, *, botocore_session: Core, profile_name: str | None = ..., region_name: str | None = ...
    ) -> None: ...
    def client(self, service_name: str, *, endpoint_url: str | None, config: Config) -> Any: ...
    def get_credentials(self) -> Any: ...
