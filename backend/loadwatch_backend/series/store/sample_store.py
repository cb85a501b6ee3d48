"""Which engine keeps the samples: the embedded one, or the one that a URL names."""

import secrets
import socket
from dataclasses import fields
from pathlib import Path

from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.settings import MEBIBYTE, Settings
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.errors import EngineSettingsError
from loadwatch_backend.series.store.port import SampleStore
from loadwatch_backend.series.store.prometheus.connection import Login, RemoteSettings
from loadwatch_backend.series.store.prometheus.engine import open_prometheus

_INSTANCE_FILE = "engine-instance"
QUERY_SAMPLES = 20_000_000
"""Samples that one select may load, where queries have the default memory."""
ANSWER_BYTES = 256 * MEBIBYTE
LABEL_BYTES = 537
"""Bytes of a series' labels, on average."""


def open_sample_store(settings: Settings, steady: SteadyClock) -> SampleStore:
    """The store.

    Raises:
        DataDirectoryError: the data directory cannot be used.
        EngineSettingsError: the engine of the URL cannot be used as it is configured.
    """
    if settings.store_url:
        return open_prometheus(remote_settings(settings), steady.wall)
    if settings.store_write_url:
        raise EngineSettingsError("LOADWATCH_STORE_WRITE_URL is set, and LOADWATCH_STORE_URL is not: set both, or none")
    return open_embedded(
        EmbeddedSettings(
            data_directory=settings.data,
            retention_ms=settings.retention_ms,
            rollup_retention_ms=settings.rollup_retention_ms,
            head_bytes=settings.head_bytes,
            database_bytes=settings.store_memory_bytes - settings.head_bytes,
            series_limit=settings.store_series_limit,
            label_bytes=settings.store_series_limit * LABEL_BYTES,
            query_samples=int(QUERY_SAMPLES * settings.query_scale),
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
        # Amazon takes a megabyte at once.
        request_samples=2_000 if settings.store_aws_region else 10_000,
        recent_bytes=settings.head_bytes,
        series_limit=settings.store_series_limit,
        label_bytes=settings.store_series_limit * LABEL_BYTES,
        query_samples=int(QUERY_SAMPLES * settings.query_scale),
        answer_bytes=int(ANSWER_BYTES * settings.query_scale),
    )


def _login(settings: Settings) -> Login:
    named = {
        "LOADWATCH_STORE_USER": bool(settings.store_user),
        "LOADWATCH_STORE_TOKEN": settings.store_token is not None,
        "LOADWATCH_STORE_AWS_REGION": bool(settings.store_aws_region),
    }
    if sum(named.values()) > 1:
        both = " and ".join(name for name, given in named.items() if given)
        raise EngineSettingsError(f"{both} are different ways to sign in at the engine: set one of them")
    if settings.store_key_file is not None and settings.store_cert_file is None:
        raise EngineSettingsError("LOADWATCH_STORE_KEY_FILE needs LOADWATCH_STORE_CERT_FILE beside it")
    return Login(**{one.name: getattr(settings, f"store_{one.name}") for one in fields(Login)})


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
