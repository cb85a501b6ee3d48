"""The server's settings: environment variables with the prefix LOADWATCH_, each described here and nowhere else.

`docs/reference/settings.md` is written from this module.
"""

import difflib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from loadwatch_backend.kit.addresses import ListenAddress, parse_listen

PREFIX = "LOADWATCH_"
MEBIBYTE = 1 << 20
DAY_MS = 86_400_000
ENGINE_URL = r"^(https?://[^@\s?#]+)?$"
TEXT = r"^[!-~]{0,300}$"
HEADER = r"^([A-Za-z0-9][A-Za-z0-9-]{0,99})?$"

FOR_TESTS = frozenset({"LOADWATCH_FAULT", "LOADWATCH_CLOCK_OFFSET_FILE"})
"""See `kit.faults` and `kit.clock`."""
OTHERS = frozenset(
    {
        "LOADWATCH_TOKEN",
        "LOADWATCH_CONFIG",
        "LOADWATCH_SERVER",
        "LOADWATCH_UI_DIRECTORY",
        "LOADWATCH_UP_SETUP",
        "LOADWATCH_UP_CONTROL",
    }
    | FOR_TESTS
)
"""Variables with our prefix that belong to the agent, to `loadwatch up` or to the build; not mistakes."""


class SettingsError(Exception):
    """A variable is wrong; the text names it and what it may be."""


class AccessMode(StrEnum):
    """Who has to sign in."""

    AUTO = "auto"
    """Nobody on a loopback address; tokens where only a token file is named; users anywhere else."""
    OPEN = "open"
    TOKEN = "token"
    USERS = "users"


class NewUserRole(StrEnum):
    """What somebody may do who comes for the first time, signed in elsewhere."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"
    NONE = "none"
    """They are refused; an administrator has to add them, or a group has to bring a role."""


class LogFormat(StrEnum):
    """How log lines look."""

    AUTO = "auto"
    """Text on a terminal, JSON anywhere else."""
    JSON = "json"
    TEXT = "text"


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _listen(value: Any) -> Any:
    return parse_listen(value) if isinstance(value, str) else value


class Settings(BaseSettings):
    """Everything that can be set; names end in the unit where there is one."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True, arbitrary_types_allowed=True
    )

    listen: Annotated[ListenAddress, NoDecode, BeforeValidator(_listen)] = Field(
        default=ListenAddress(host="127.0.0.1", port=8000),
        description="Address to listen on, host:port. On other than a loopback address people have to sign in.",
    )
    data: Path = Field(default=Path("data"), description="Directory of all data; made when it does not exist.")
    token_file: Path | None = Field(
        default=None,
        description="File of tokens (`loadwatch token create`). With it every request needs a token or a session, on "
        "any address.",
    )
    access: AccessMode = Field(
        default=AccessMode.AUTO,
        description="Who has to sign in: `open` (nobody; loopback addresses only), `token` (with a token of the token "
        "file or of the database), `users` (also with a password, a proxy's header or OpenID Connect), or `auto`: "
        "`open` on a loopback address, `token` where a token file is all that is configured, else `users`.",
    )
    proxy_networks: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Addresses of reverse proxies in CIDR form, separated by commas. Only from them `X-Forwarded-For`, "
        "`X-Forwarded-Proto` and the headers below are believed.",
    )
    proxy_user_header: str = Field(
        default="", pattern=HEADER, description="Header in which a reverse proxy names the user whom it has signed in."
    )
    proxy_name_header: str = Field(default="", pattern=HEADER, description="Header with the user's full name.")
    proxy_role_header: str = Field(
        default="", pattern=HEADER, description="Header with the user's role: viewer, editor or admin."
    )
    proxy_groups_header: str = Field(
        default="", pattern=HEADER, description="Header with the user's groups, separated by commas."
    )
    proxy_group_roles: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Roles of groups, separated by commas: `ops=admin,devs=editor`. The highest one counts.",
    )
    proxy_default_role: NewUserRole = Field(
        default=NewUserRole.VIEWER,
        description="Role of a user whom the proxy names for the first time and for whom no header brings a role; "
        "`none` refuses them.",
    )
    oidc_issuer: str = Field(
        default="", max_length=500, description="Address of an OpenID Connect provider: https://id.example.org/realm."
    )
    oidc_client_id: str = Field(default="", max_length=500, description="Our client id at the provider.")
    oidc_client_secret: SecretStr | None = Field(default=None, description="Our secret at the provider.")
    oidc_client_secret_file: Path | None = Field(default=None, description="File that holds the secret instead.")
    oidc_label: str = Field(default="Single sign-on", max_length=100, description="Text of the sign-in button.")
    oidc_scopes: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=("openid", "profile", "email"), description="Scopes to ask for, separated by commas."
    )
    oidc_name_claim: str = Field(
        default="preferred_username", max_length=100, description="Claim that becomes the name of a new user."
    )
    oidc_groups_claim: str = Field(
        default="groups", max_length=100, description="Claim with the user's groups or roles; dots lead inwards."
    )
    oidc_group_roles: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Roles of groups, separated by commas: `ops=admin,devs=editor`. The highest one counts, at each "
        "sign-in.",
    )
    oidc_default_role: NewUserRole = Field(
        default=NewUserRole.VIEWER, description="Role of a new user whose groups bring none; `none` refuses them."
    )
    oidc_domains: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(), description="Domains of verified email addresses that may sign in. Default: all."
    )
    oidc_groups: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(), description="Groups of which one is needed to sign in. Default: all may."
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="Database for everything but samples, as an SQLAlchemy URL (mysql+pymysql://…, postgresql+…://…). "
        "Default: SQLite in the data directory.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Names by which the server may be called besides loopback names, separated by commas; "
        "`*.example.org` takes all names below.",
    )
    log_format: LogFormat = Field(default=LogFormat.AUTO, description="`text`, `json`, or `auto`: text on a terminal.")
    retention_days: float = Field(default=15, ge=0.01, le=3_650, description="Age at which samples are deleted.")
    rollup_retention_days: float = Field(
        default=400,
        ge=0.01,
        le=3_650,
        description="Age at which one-minute rollups are deleted, which answer queries of what is older than "
        "LOADWATCH_RETENTION_DAYS; the same as that, when it is longer.",
    )
    request_body_bytes: int = Field(default=MEBIBYTE, ge=1_024, description="Largest body of a request to /api.")
    import_bytes: int = Field(
        default=64 * 1024 * MEBIBYTE,
        ge=1_024,
        description="Largest result file, as it is sent, and largest archive of a run.",
    )
    import_unpacked_bytes: int = Field(
        default=256 * 1024 * MEBIBYTE,
        ge=MEBIBYTE,
        description="Largest sum of all that one result file unpacks to. Above 64 MiB it may not be more than 300 "
        "times the size of the file either.",
    )
    import_seconds: float = Field(
        default=900, ge=1, le=86_400, description="Time that one import may take, also of processor time."
    )
    query_timeout_seconds: float = Field(default=30, gt=0, le=600, description="Time that one query may take.")
    query_samples: int = Field(
        default=50_000_000, ge=1_000, description="Samples that one query may load and cells that it may compute."
    )
    query_series: int = Field(default=100_000, ge=1, description="Series that one query may load.")
    query_memory_bytes: int = Field(
        default=1024 * MEBIBYTE,
        ge=64 * MEBIBYTE,
        description="Memory for all queries together, of which one may have a quarter, and half of its part, at most. "
        "Half is for the Prometheus API, a quarter for rules, an eighth for pages, an eighth for reports and the like.",
    )
    query_at_once: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="Queries of the Prometheus API that are evaluated at once, the others wait; 0 is one for each "
        "core. Pages have half as many turns of their own.",
    )
    query_wait_seconds: float = Field(
        default=30, gt=0, le=600, description="How long a query may wait for its turn or for memory."
    )
    query_answer_bytes: int = Field(
        default=256 * MEBIBYTE, ge=MEBIBYTE, description="Largest answer to one query of the Prometheus API."
    )
    external_url: str = Field(
        default="",
        max_length=500,
        description="Address by which people reach the page, for links in notifications: https://watch.example.org. "
        "Default: the listening address.",
    )
    rules: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(), description="Rule files in Prometheus' format, with * and **, separated by commas."
    )
    default_rules: bool = Field(default=True, description="Whether the built-in rules are evaluated too.")
    rules_interval_seconds: float = Field(
        default=1,
        ge=0.1,
        le=3_600,
        description="Longest wait between two evaluations of a group that names no interval.",
    )
    alert_history_days: float = Field(default=400, ge=1, le=3_650, description="Age at which ended alerts are deleted.")
    flap_changes: int = Field(
        default=6,
        ge=0,
        le=100,
        description="Times that an alert may begin or end to fire within the flapping window before it is kept firing; "
        "0 is without damping.",
    )
    flap_window_seconds: float = Field(default=600, ge=1, le=86_400, description="The flapping window.")
    flap_hold_seconds: float = Field(
        default=120, ge=0, le=86_400, description="How long a flapping alert's condition must stay the same to count."
    )
    notifications: Path | None = Field(
        default=None,
        description="Receivers, routes, inhibition and time intervals, as in Alertmanager's configuration file. "
        "Default: alerts are on the page only.",
    )
    notify_networks: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Networks that notifications may be sent to besides public addresses, in CIDR form, separated by "
        "commas: 10.0.0.0/8,127.0.0.0/8.",
    )
    own_metrics_seconds: float = Field(
        default=15,
        ge=0,
        le=60,
        description="How often the server's own metrics are kept in its store, as job `loadwatch`: the rules about "
        "Loadwatch itself read them. 0: never.",
    )
    heartbeat_url: SecretStr | None = Field(
        default=None,
        description="A dead man's switch: an address that is sent a POST each minute for as long as this server "
        "evaluates rules and its database answers. Let it raise an alarm when that stops.",
    )
    heartbeat_url_file: Path | None = Field(default=None, description="File that holds the address instead.")
    heartbeat_seconds: float = Field(default=60, ge=1, le=3_600, description="Between two of them.")
    ingest_body_bytes: int = Field(
        default=32 * MEBIBYTE, ge=1_024, description="Largest compressed body of one remote-write request."
    )
    ingest_decompressed_bytes: int = Field(
        default=128 * MEBIBYTE, ge=1_024, description="Largest body of one remote-write request after decompression."
    )
    ingest_entries: int = Field(
        default=1_000_000,
        ge=100,
        description="Series, labels, samples, exemplars, histograms and metadata of one remote-write request together.",
    )
    ingest_labels: int = Field(default=64, ge=1, description="Labels of one series.")
    ingest_label_name_bytes: int = Field(default=1_024, ge=1, description="Length of a label's name.")
    ingest_label_value_bytes: int = Field(default=4_096, ge=1, description="Length of a label's value.")
    ingest_new_series: int = Field(default=50_000, ge=1, description="Series that one remote-write request may add.")
    ingest_sender_series: int = Field(
        default=200_000,
        ge=1,
        description="Active series of one sender (token, or address where there is none): sent within the last hour. "
        "Beyond it new series are refused, and what it sends of others is stored.",
    )
    ingest_sender_new_series: int = Field(
        default=200_000, ge=1, description="Series that one sender may add within an hour."
    )
    ingest_ahead_seconds: int = Field(default=600, ge=0, description="How far a sample may lie in the future.")
    otlp_translation: Literal[
        "UnderscoreEscapingWithSuffixes",
        "UnderscoreEscapingWithoutSuffixes",
        "NoUTF8EscapingWithSuffixes",
        "NoTranslation",
    ] = Field(
        default="UnderscoreEscapingWithSuffixes",
        description="How names that come by OTLP are translated: Prometheus' `translation_strategy`.",
    )
    otlp_promote: str = Field(
        default="",
        description="Resource attributes that become labels of all series that come by OTLP, with commas between.",
    )
    otlp_scope: bool = Field(
        default=False, description="Name and attributes of OTLP's instrumentation scopes become labels, `otel_scope_…`."
    )
    store_series_limit: int = Field(default=500_000, ge=1, description="Series that the store may hold.")
    store_label_bytes: int = Field(
        default=256 * MEBIBYTE,
        ge=MEBIBYTE,
        description="Names and values of the labels of all series in the store, those that repeat counted each time.",
    )
    store_query_samples: int = Field(default=20_000_000, ge=1_000, description="Samples that one select may load.")
    store_queue_samples: int = Field(
        default=2_000_000, ge=1_000, description="Samples that may wait for the disk before senders are told to wait."
    )
    store_head_bytes: int = Field(
        default=256 * MEBIBYTE, ge=MEBIBYTE, description="Memory for the newest samples, which live queries read."
    )
    store_database_bytes: int = Field(default=512 * MEBIBYTE, ge=64 * MEBIBYTE, description="Memory for DuckDB.")
    store_database_threads: int = Field(default=2, ge=1, le=256, description="Threads of DuckDB.")

    store_url: str = Field(
        default="",
        max_length=2_000,
        pattern=ENGINE_URL,
        description="Address of another engine for the samples, any server that speaks Prometheus' HTTP API, without "
        "`/api/v1/…` and without a password: http://victoria:8428. See docs/guide/second-engine.md. Default: the "
        "embedded store in the data directory.",
    )
    store_write_url: str = Field(
        default="",
        max_length=2_000,
        pattern=ENGINE_URL,
        description="The engine's whole address of remote write. Default: `/api/v1/write` below LOADWATCH_STORE_URL.",
    )
    store_read_by: Literal["auto", "export", "read", "query"] = Field(
        default="auto",
        description="How samples are read from the engine: `export` (VictoriaMetrics), `read` (remote read: Prometheus,"
        " Mimir), `query` (any, without stale markers), or the first that it knows.",
    )
    store_tenant: str = Field(default="", pattern=TEXT, description="Our tenant at the engine, sent in a header.")
    store_tenant_header: str = Field(default="X-Scope-OrgID", pattern=HEADER, description="Name of that header.")
    store_user: str = Field(default="", pattern=TEXT, description="Our name at the engine, for basic authentication.")
    store_password: SecretStr | None = Field(default=None, description="Our password there.")
    store_password_file: Path | None = Field(
        default=None, description="File that holds it instead; read again when it changes."
    )
    store_token: SecretStr | None = Field(default=None, description="Our bearer token at the engine.")
    store_token_file: Path | None = Field(
        default=None, description="File that holds it instead; read again when it changes."
    )
    store_ca_file: Path | None = Field(
        default=None, description="Certificates (PEM) that the engine's is checked against. Default: the system's."
    )
    store_cert_file: Path | None = Field(default=None, description="Our own certificate (PEM) for the engine.")
    store_key_file: Path | None = Field(default=None, description="Its key (PEM, without a passphrase).")
    store_aws_region: str = Field(
        default="",
        pattern=r"^[a-z0-9-]{0,40}$",
        description="Region of an Amazon Managed Service for Prometheus: requests are signed (SigV4) with the "
        "credentials that boto3 finds (`pip install 'loadwatch[aws]'`).",
    )
    store_timeout_seconds: float = Field(
        default=30, gt=0, le=600, description="Time that one request to the engine may take."
    )
    store_engine_queue_bytes: int = Field(
        default=1024 * MEBIBYTE,
        ge=MEBIBYTE,
        description="Samples that may wait on disk for the engine before senders are told to wait.",
    )
    store_engine_queue_hours: float = Field(
        default=6, gt=0, le=720, description="How long they may wait before senders are told to wait."
    )
    store_request_samples: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Samples of one remote-write request to the engine."
    )

    @property
    def retention_ms(self) -> int:
        """Age at which samples are deleted, in milliseconds."""
        return int(self.retention_days * DAY_MS)

    @property
    def rollup_retention_ms(self) -> int:
        """Age at which rollups are deleted, in milliseconds."""
        return int(self.rollup_retention_days * DAY_MS)

    @property
    def relational_url(self) -> str | None:
        """The URL of the relational database with its password; None for the default."""
        return None if self.database_url is None else self.database_url.get_secret_value()


def known_variables() -> frozenset[str]:
    """Names of all variables that the server reads."""
    return frozenset(PREFIX + name.upper() for name in Settings.model_fields)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """One sentence for each variable with our prefix that nothing reads, with the likeliest name that was meant."""
    known = known_variables()
    sentences: list[str] = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known and name not in OTHERS:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            sentences.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "."))
    return sentences


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment; `overrides` (from the command line) win.

    Unknown variables are no error: Kubernetes gives every pod LOADWATCH_PORT and more, once a service has our name.

    Raises:
        SettingsError: a value is not allowed; names the variable.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        # `input` is left out on purpose: a value may be a secret.
        lines = [f"{PREFIX}{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors(include_input=False)]
        raise SettingsError("\n".join(lines)) from error
