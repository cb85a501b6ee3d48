"""Signatures for Amazon Managed Service for Prometheus: the one file of the store that imports boto3."""

from collections.abc import Mapping
from typing import Any

import boto3.session
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError

from loadwatch_backend.series.store.errors import EngineSettingsError
from loadwatch_backend.series.store.prometheus.connection import Signer


def aws_signer(region: str) -> Signer:
    """Signs with the credentials that boto3 finds, renewed by it as they expire.

    Raises:
        EngineSettingsError: there are none; the signer too, when they cannot be renewed.
    """
    try:
        credentials: Any = boto3.session.Session(botocore_session=botocore.session.get_session()).get_credentials()
    except BotoCoreError as error:
        raise EngineSettingsError(f"boto3 cannot load credentials: {error}") from error
    if credentials is None:
        raise EngineSettingsError(
            "boto3 finds no credentials for Amazon Managed Prometheus (LOADWATCH_STORE_AWS_REGION): give the server a"
            " role, a profile or AWS_ variables"
        )

    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
        try:
            SigV4Auth(credentials.get_frozen_credentials(), "aps", region).add_auth(request)
        except BotoCoreError as error:
            raise EngineSettingsError(f"the credentials of AWS cannot be used: {error}") from error
        return dict(request.headers.items())

    return sign
