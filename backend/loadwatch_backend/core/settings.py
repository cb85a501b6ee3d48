"""The server's settings: environment variables with the prefix LOADWATCH_, each described here and nowhere else.

`docs/reference/settings.md` is written from this module.
"""

import difflib
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from loadwatch_backend.core.addresses import ListenAddress, parse_listen
from loadwatch_backend.core.secret import Secret, SecretError

PREFIX = "LOADWATCH_"
MEBIBYTE = 1 << 20
DAY_MS = 86_400_000
ENGINE_URL = r"^(https?://[^@\s?#]+)?$"
TEXT = r"^[!-~]{0,300}$"
HEADER = r"^([A-Za-z0-9][A-Za-z0-9-]{0,99})?$"

FOR_TESTS = frozenset({"LOADWATCH_FAULT", "LOADWATCH_CLOCK_OFFSET_FILE"})
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

REMOVED = frozenset(
    f"{PREFIX}{name}"
    for name in """
    ALERT_HISTORY_DAYS FLAP_HOLD_SECONDS FLAP_WINDOW_SECONDS IMPORT_BYTES IMPORT_SECONDS
    IMPORT_UNPACKED_BYTES INGEST_AHEAD_SECONDS INGEST_BODY_BYTES INGEST_DECOMPRESSED_BYTES INGEST_ENTRIES INGEST_LABELS
    INGEST_LABEL_NAME_BYTES INGEST_LABEL_VALUE_BYTES INGEST_NEW_SERIES INGEST_SENDER_NEW_SERIES INGEST_SENDER_SERIES
    OTLP_SCOPE QUERY_ANSWER_BYTES QUERY_AT_ONCE QUERY_SAMPLES QUERY_SERIES QUERY_WAIT_SECONDS
    REQUEST_BODY_BYTES STORE_DATABASE_BYTES STORE_DATABASE_THREADS STORE_HEAD_BYTES STORE_LABEL_BYTES
    STORE_QUERY_SAMPLES STORE_QUEUE_SAMPLES
    """.split()
)
"""Settings of before: they have no effect, and are no reason not to start."""


class SettingsError(Exception):
    """A variable is wrong; the text names it and what it may be."""


class AccessMode(StrEnum):
    AUTO = "auto"
    """Nobody on a loopback address; tokens where only a token file is named; users anywhere else."""
    OPEN = "open"
    TOKEN = "token"
    USERS = "users"


class NewUserRole(StrEnum):
    """The role of a user whom a proxy or the OpenID Connect provider names for the first time."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"
    NONE = "none"
    """They are refused; an administrator has to add them, or a group has to bring a role."""


class LogFormat(StrEnum):
    AUTO = "auto"
    """Text on a terminal, JSON anywhere else."""
    JSON = "json"
    TEXT = "text"


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""Separated by commas."""


def _folders(value: Any) -> Any:
    return tuple(Path(part) for part in value.split(os.pathsep) if part) if isinstance(value, str) else value


SecretSetting = Annotated[
    Secret | None, NoDecode, BeforeValidator(lambda value: Secret(value) if isinstance(value, str) else value)
]
"""Given in the variable, or in a file that the variable with `_FILE` at its end names."""


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
    proxy_networks: Names = Field(
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
    proxy_group_roles: Names = Field(
        default=(), description="Roles of groups, separated by commas: `ops=admin,devs=editor`. The highest one counts."
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
    oidc_client_secret: SecretSetting = Field(default=None, description="Our secret at the provider.")
    oidc_label: str = Field(default="Single sign-on", max_length=100, description="Text of the sign-in button.")
    oidc_scopes: Names = Field(
        default=("openid", "profile", "email"), description="Scopes to ask for, separated by commas."
    )
    oidc_name_claim: str = Field(
        default="preferred_username", max_length=100, description="Claim that becomes the name of a new user."
    )
    oidc_groups_claim: str = Field(
        default="groups", max_length=100, description="Claim with the user's groups or roles; dots lead inwards."
    )
    oidc_group_roles: Names = Field(
        default=(),
        description="Roles of groups, separated by commas: `ops=admin,devs=editor`. The highest one counts, at each "
        "sign-in.",
    )
    oidc_default_role: NewUserRole = Field(
        default=NewUserRole.VIEWER, description="Role of a new user whose groups bring none; `none` refuses them."
    )
    oidc_domains: Names = Field(
        default=(), description="Domains of verified email addresses that may sign in. Default: all."
    )
    oidc_groups: Names = Field(default=(), description="Groups of which one is needed to sign in. Default: all may.")
    database_url: SecretSetting = Field(
        default=None,
        description="Database for everything but samples, as an SQLAlchemy URL (mysql+pymysql://…, postgresql+…://…). "
        "Default: SQLite in the data directory.",
    )
    allowed_hosts: Names = Field(
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
        "LOADWATCH_RETENTION_DAYS; the same as that, when it is longer. Ended alerts are deleted at this age, too.",
    )
    query_timeout_seconds: float = Field(default=30, gt=0, le=600, description="Time that one query may take.")
    query_memory_bytes: int = Field(
        default=1024 * MEBIBYTE,
        ge=64 * MEBIBYTE,
        description="Memory for all queries together, of which one may have a quarter, and half of its part, at most. "
        "Half is for the Prometheus API, a quarter for rules, an eighth for pages, an eighth for reports and the like. "
        "Above 1 GiB, limits of samples (50,000,000), series (100,000) and answers (256 MiB) grow with it.",
    )
    external_url: str = Field(
        default="",
        max_length=500,
        description="Address by which people reach the page, for links in notifications: https://watch.example.org. "
        "Default: the listening address.",
    )
    packs: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_folders)] = Field(
        default=(),
        description="Folders of your own packs, separated as in PATH; a later one wins. Default: `packs` in the data "
        "directory.",
    )
    rules: Names = Field(
        default=(), description="Rule files in Prometheus' format, with * and **, separated by commas."
    )
    default_rules: bool = Field(default=True, description="Whether the built-in rules are evaluated too.")
    rules_interval_seconds: float = Field(
        default=1,
        ge=0.1,
        le=3_600,
        description="Longest wait between two evaluations of a group that names no interval.",
    )
    flap_changes: int = Field(
        default=6,
        ge=0,
        le=100,
        description="Times that an alert may begin or end to fire within ten minutes before it is kept firing until "
        "its condition was the same for two; 0 is without damping.",
    )
    notifications: Path | None = Field(
        default=None,
        description="Receivers, routes, inhibition and time intervals, as in Alertmanager's configuration file. "
        "Default: alerts are on the page only.",
    )
    notify_networks: Names = Field(
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
    heartbeat_url: SecretSetting = Field(
        default=None,
        description="A dead man's switch: an address that is sent a POST each minute for as long as this server "
        "evaluates rules and its database answers. Let it raise an alarm when that stops.",
    )
    heartbeat_seconds: float = Field(default=60, ge=1, le=3_600, description="Between two of them.")
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
        description="Resource attributes that become labels of all series that come by OTLP, with commas between; "
        "`otel.scope` is name and attributes of the instrumentation scope.",
    )
    store_series_limit: int = Field(
        default=500_000,
        ge=1,
        description="Series that the store may hold; their labels may have 537 bytes each on average. A sender (token, "
        "or address where there is none) may have two fifths of it active within an hour, and add as many; one request "
        "may add a tenth.",
    )
    store_memory_bytes: int = Field(
        default=768 * MEBIBYTE,
        ge=96 * MEBIBYTE,
        description="Memory for samples: a third for the newest, which live queries read, the others for DuckDB.",
    )

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
    store_tenant: str = Field(default="", pattern=TEXT, description="Our tenant at the engine, sent in a header.")
    store_tenant_header: str = Field(default="X-Scope-OrgID", pattern=HEADER, description="Name of that header.")
    store_user: str = Field(default="", pattern=TEXT, description="Our name at the engine, for basic authentication.")
    store_password: SecretSetting = Field(default=None, description="Our password there.")
    store_token: SecretSetting = Field(default=None, description="Our bearer token at the engine.")
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

    @property
    def retention_ms(self) -> int:
        return int(self.retention_days * DAY_MS)

    @property
    def rollup_retention_ms(self) -> int:
        return int(self.rollup_retention_days * DAY_MS)

    @property
    def relational_url(self) -> str | None:
        return None if self.database_url is None else self.database_url.reveal()

    @property
    def head_bytes(self) -> int:
        return self.store_memory_bytes // 3

    @property
    def query_scale(self) -> float:
        """How many times the default limits of one query hold."""
        return max(1.0, self.query_memory_bytes / (1024 * MEBIBYTE))


SECRETS = [name for name, field in Settings.model_fields.items() if field.annotation == Secret | None]


def known_variables() -> frozenset[str]:
    return frozenset(PREFIX + name.upper() for name in Settings.model_fields) | {
        f"{PREFIX}{name.upper()}_FILE" for name in SECRETS
    }


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """One sentence for all that were settings, and one for each other variable with our prefix that nothing reads."""
    known = known_variables()
    removed = sorted(REMOVED & environment.keys())
    sentences = [
        f"{', '.join(removed)}: no settings any more, without effect. Unset them; limits follow from"
        " LOADWATCH_STORE_SERIES_LIMIT, LOADWATCH_STORE_MEMORY_BYTES and LOADWATCH_QUERY_MEMORY_BYTES."
    ][: len(removed)]
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known | OTHERS | REMOVED:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            sentences.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "."))
    return sentences


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment; `overrides` (from the command line) win.

    Unknown variables are no error: Kubernetes gives every pod LOADWATCH_PORT and more, once a service has our name.

    Raises:
        SettingsError: a value is not allowed; names the variable.
    """
    for name in SECRETS:
        variable = PREFIX + name.upper()
        file = os.environ.get(f"{variable}_FILE")
        if not file:
            continue
        if os.environ.get(variable):
            raise SettingsError(f"{variable} and {variable}_FILE are both set; keep one of them.")
        overrides[name] = Secret(path=Path(file))
        try:
            overrides[name].reveal()
        except SecretError as error:
            raise SettingsError(f"{variable}_FILE: {error}.") from error
    try:
        return Settings(**overrides)
    except ValidationError as error:
        # `input` is left out on purpose: a value may be a secret.
        found = error.errors(include_input=False, include_context=False)
    # Not in the handler: the library's error keeps all that is loaded, and DuckDB's binding reports it at the end.
    lines = (f"{PREFIX}{str(one['loc'][0]).upper()}: {one['msg'].removeprefix('Value error, ')}" for one in found)
    raise SettingsError("\n".join(lines))
