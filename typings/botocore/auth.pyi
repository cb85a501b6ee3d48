from typing import Any

from botocore.awsrequest import AWSRequest

class SigV4Auth:
    def __init__(self, credentials: Any, service_name: str, region_name: str) -> None: ...
    def add_auth(self, request: AWSRequest) -> None: ...
