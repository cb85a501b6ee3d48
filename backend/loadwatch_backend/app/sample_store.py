"""Which engine keeps the samples: the embedded one, or the one that a URL names."""

import importlib
import secrets
import socket
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from loadwatch_backend.kit.clock import SteadyClock
from loadwatch_backend.kit.settings import Settings
from loadwatch_backend.store.embedded.engine import open_embedded
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.errors import EngineSettingsError
from loadwatch_backend.store.port import SampleStore
from loadwatch_backend.store.prometheus.engine import open_prometheus
from loadwatch_backend.store.prometheus.login import Signer
from loadwatch_backend.store.prometheus.settings import Login, ReadBy, RemoteSettings

_SIGNER = "loadwatch_backend.store.prometheus.sigv4"
_INSTANCE_FILE = "engine-instance"


def open_sample_store(settings: Settings, steady: SteadyClock) -> SampleStore:
    """The store.

    Raises:
        DataDirectoryError: the data directory cannot be used.
        EngineSettingsError: the engine of the URL cannot be used as it is configured.
    """
    if settings.store_url:
        return open_prometheus(remote_settings(settings), steady.wall, make_signer)
    if settings.store_write_url:
        raise EngineSettingsError("LOADWATCH_STORE_WRITE_URL is set, and LOADWATCH_STORE_URL is not: set both, or none")
    return open_embedded(
        EmbeddedSettings(
            data_directory=settings.data,
            retention_ms=settings.retention_ms,
            rollup_retention_ms=settings.rollup_retention_ms,
            head_bytes=settings.store_head_bytes,
            database_bytes=settings.store_database_bytes,
            database_threads=settings.store_database_threads,
            series_limit=settings.store_series_limit,
            label_bytes=settings.store_label_bytes,
            query_samples=settings.store_query_samples,
            queue_samples=settings.store_queue_samples,
        ),
        steady,
    )


def remote_settings(settings: Settings) -> RemoteSettings:
    """Those of the second engine.

    Raises:
        EngineSettingsError: they contradict each other.
    """
    url = settings.store_url.rstrip("/")
    return RemoteSettings(
        data_directory=settings.data,
        url=url,
        write_url=settings.store_write_url or f"{url}/api/v1/write",
        instance=_instance(settings.data),
        login=_login(settings),
        read_by=ReadBy(settings.store_read_by),
        timeout_seconds=settings.store_timeout_seconds,
        queue_bytes=settings.store_engine_queue_bytes,
        queue_ms=int(settings.store_engine_queue_hours * 3_600_000),
        queue_samples=settings.store_queue_samples,
        request_samples=settings.store_request_samples,
        recent_bytes=settings.store_head_bytes,
        series_limit=settings.store_series_limit,
        label_bytes=settings.store_label_bytes,
        query_samples=settings.store_query_samples,
        answer_bytes=settings.query_answer_bytes,
    )


def _login(settings: Settings) -> Login:
    named = {
        "LOADWATCH_STORE_USER": bool(settings.store_user),
        "LOADWATCH_STORE_TOKEN": settings.store_token is not None or settings.store_token_file is not None,
        "LOADWATCH_STORE_AWS_REGION": bool(settings.store_aws_region),
    }
    if sum(named.values()) > 1:
        both = " and ".join(name for name, given in named.items() if given)
        raise EngineSettingsError(f"{both} are different ways to sign in at the engine: set one of them")
    if settings.store_key_file is not None and settings.store_cert_file is None:
        raise EngineSettingsError("LOADWATCH_STORE_KEY_FILE needs LOADWATCH_STORE_CERT_FILE beside it")
    return Login(
        tenant=settings.store_tenant,
        tenant_header=settings.store_tenant_header or "X-Scope-OrgID",
        user=settings.store_user,
        password=_value(settings.store_password),
        password_file=settings.store_password_file,
        token=_value(settings.store_token),
        token_file=settings.store_token_file,
        ca_file=settings.store_ca_file,
        certificate_file=settings.store_cert_file,
        key_file=settings.store_key_file,
        aws_region=settings.store_aws_region,
    )


def _value(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def _instance(data: Path) -> str:
    """Our name among the servers that share the engine: of this host, and the same after each start."""
    path = data / _INSTANCE_FILE
    try:
        name = path.read_text().strip()
    except OSError:
        name = ""
    if not name:
        name = f"{socket.gethostname()[:60]}-{secrets.token_hex(4)}"
        path.write_text(f"{name}\n")
    return name


def make_signer(region: str) -> Signer:
    """Of requests to Amazon Managed Prometheus; imported only here, because boto3 is an extra.

    Raises:
        EngineSettingsError: boto3 is not installed, or finds no credentials.
    """
    try:
        module: Any = importlib.import_module(_SIGNER)
    except ModuleNotFoundError as error:
        raise EngineSettingsError(
            "LOADWATCH_STORE_AWS_REGION needs boto3, which is not installed: pip install 'loadwatch[aws]'"
        ) from error
    signer: Signer = module.AwsSigner(region)
    return signer
