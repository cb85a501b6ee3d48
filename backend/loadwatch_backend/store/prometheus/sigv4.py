"""Signatures for Amazon Managed Service for Prometheus: the one file of the store that imports boto3."""

from collections.abc import Mapping
from typing import Any

import boto3.session
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError

from loadwatch_backend.store.errors import EngineSettingsError

_SERVICE = "aps"


class AwsSigner:
    """Signs with the credentials that boto3 finds, renewed by it as they expire. Safe to use from any thread."""

    def __init__(self, region: str) -> None:
        try:
            self._credentials: Any = boto3.session.Session(
                botocore_session=botocore.session.get_session()
            ).get_credentials()
        except BotoCoreError as error:
            raise EngineSettingsError(f"boto3 cannot load credentials: {error}") from error
        if self._credentials is None:
            raise EngineSettingsError(
                "boto3 finds no credentials for Amazon Managed Prometheus (LOADWATCH_STORE_AWS_REGION): give the server"
                " a role, a profile or AWS_ variables"
            )
        self._region = region

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """See `login.Signer`; raises EngineSettingsError when the credentials cannot be renewed."""
        request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
        try:
            SigV4Auth(self._credentials.get_frozen_credentials(), _SERVICE, self._region).add_auth(request)
        except BotoCoreError as error:
            raise EngineSettingsError(f"the credentials of AWS cannot be used: {error}") from error
        return dict(request.headers.items())
