"""How the second engine is reached, and what it may take."""

from dataclasses import dataclass, field
from pathlib import Path

from loadwatch_backend.core.secret import Secret

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who we are at the engine; secrets are read from their files again whenever those change."""

    tenant: str = ""
    tenant_header: str = "X-Scope-OrgID"
    user: str = ""
    password: Secret | None = None
    token: Secret | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    aws_region: str = ""
    """Requests are signed for Amazon Managed Prometheus of this region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    """Where the engine is, and limits of ours."""

    data_directory: Path
    url: str
    """What Prometheus' paths follow for reading: `<url>/api/v1/query`."""
    write_url: str
    """The whole address of remote write."""
    instance: str = ""
    """Our name among the servers that share the engine; empty where nobody else is heard of."""
    login: Login = field(default_factory=Login)
    timeout_seconds: float = 30.0
    queue_bytes: int = 1024 * MEBIBYTE
    queue_ms: int = 6 * 3_600_000
    """Age of the oldest sample that waits at which no more are taken."""
    queue_samples: int = 2_000_000
    """Samples that may wait for our own disk."""
    request_samples: int = 10_000
    """Samples, and so series, of one remote-write request."""
    recent_bytes: int = 256 * MEBIBYTE
    series_limit: int = 500_000
    label_bytes: int = 256 << 20
    query_samples: int = 20_000_000
    answer_bytes: int = 256 * MEBIBYTE
    """Of an answer that is passed through."""
    settle_seconds: float = 360.0
    """How long what was delivered stays in memory too: the engine may need a moment to show it, and most engines never
    show the stale markers, which count for a look-back of five minutes."""
