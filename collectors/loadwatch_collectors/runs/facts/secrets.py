"""What looks like a secret: names that one goes by, and values that are one whatever their name."""

import re

MASK = "***"

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WORDS = frozenset(
    "auth authorization bearer cookie cookies cred creds credential credentials dsn jwt otp pass passcode passphrase"
    " passwd password passwords pat pw pwd sas secret secrets sid sig signature token".split()
)
_LAST_WORDS = frozenset("key login session sessionid".split())
"""Secret where a name ends with them: `X-Auth-Key`, but not `--key-pattern` nor `--session-timeout`."""

_ENDS = ("apikey", "cookie", "key", "pass", "passwd", "password", "pwd", "secret", "session", "sessid", "token")
_NO_SECRETS = frozenset("bypass compass donkey encompass hotkey jockey keyspace monkey overpass surpass turkey".split())
_MEASURES = frozenset(
    "age attempts bucket bytes count delay duration expiry interval len length limit max maximum min minimum num number"
    " rate retries size space threads timeout ttl wait workers".split()
)
_KINDS = frozenset("dir directory env file header jar mechanism method mode name path pattern prefix type".split())
"""What such a name ends with says that the secret itself is elsewhere."""

_SWITCHES = re.compile(r"^-*(?:no|disable|enable|skip|ignore|without|allow|insecure|reset)[-_]|[-_](?:reset|tickets)$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|[kKMG]i?B?|%|/s)?")

MYSQL = frozenset("mariadb mariadb-admin mariadb-dump mysql mysqladmin mysqldump mysqlimport mysqlslap".split())
"""Programs that read `-pSECRET`."""
PASSWORD_OPTIONS: dict[str, tuple[str, ...]] = {
    "redis-cli": ("-a",),
    "redis-benchmark": ("-a",),
    "valkey-cli": ("-a",),
    "valkey-benchmark": ("-a",),
    "memtier_benchmark": ("-a",),
    "sshpass": ("-p",),
    "mongo": ("-p",),
    "mongosh": ("-p",),
    "mongodump": ("-p",),
    "ldapsearch": ("-w",),
    "cqlsh": ("-p",),
    "smbclient": ("-U",),
}
"""Options behind which, or attached to which, a secret stands, by program."""

_VALUES = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|[sr]k_(?:live|test)_|sk-|hvs\.|npm_|pypi-|dop_v1_)[\w-]{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
_LONG = re.compile(r"(?<![\w+/=.~-])[\w+=~-]{24,}(?![\w+/~.-])")
_RUN = re.compile(r"[A-Za-z0-9+]{20,}")
_CHANGES = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")


def is_secret_name(name: str, value: str = "") -> bool:
    """Whether an option, variable, header, cookie or query parameter of this name holds a secret.

    `value` decides where the name alone does not: `TOKEN_LIMIT=5` is a measure.
    """
    words = [part.lower() for part in _PARTS.findall(name)]
    if not words or _SWITCHES.search(name.lower()) or words[-1] in _KINDS:
        return False
    if words[-1] in _MEASURES and (not value or _NUMBER.fullmatch(value)):
        return False
    if words[-1] in _LAST_WORDS or any(word in _WORDS for word in words):
        return True
    if "".join(words[-2:]) in ("apikey", "accesskey", "sessionid", "secretkey", "privatekey"):
        return True
    return any(word.endswith(_ENDS) and word not in _NO_SECRETS for word in words)


def mask_values(text: str) -> str:
    """The text with `***` for what is a secret by its looks: keys of AWS, tokens of known shape, long random texts."""
    return _LONG.sub(lambda found: MASK if _is_random(found[0]) else found[0], mask_known(text))


def mask_known(text: str) -> str:
    """The text with `***` for keys of AWS and tokens of known shape alone: in code, random texts are checksums."""
    return _VALUES.sub(MASK, text)


def _is_random(text: str) -> bool:
    """Whether letters and digits change as they do in no name: a run of twenty or more with five changes."""
    return any(len(_CHANGES.findall(run)) >= 5 for run in _RUN.findall(text))
