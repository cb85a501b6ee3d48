"""Secrets of commands, headers and statements that stand somewhere in a line: of a script, of code, of a log.

A line is no command: what is an option is told by the program before it, or by its own name. What names a secret that
is elsewhere (`$PW`, `<password>`) stays. Each pattern is bounded, as lines of a patch are not.
"""

import binascii
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
"""A name that ends with one of these tells where a secret is, and is none itself."""

_SWITCHES = re.compile(r"^-*(?:no|disable|enable|skip|ignore|without|allow|insecure|reset)[-_]|[-_](?:reset|tickets)$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|[kKMG]i?B?|%|/s)?")

MYSQL = frozenset("mariadb mariadb-admin mariadb-dump mysql mysqladmin mysqldump mysqlimport mysqlslap".split())
"""Programs that read `-pSECRET`."""
PASSWORD_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("redis-cli redis-benchmark valkey-cli valkey-benchmark memtier_benchmark".split(), ("-a",)),
    **dict.fromkeys("sshpass mongo mongosh mongodump cqlsh".split(), ("-p",)),
    **{"ldapsearch": ("-w",), "smbclient": ("-U",)},
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
    """Whether a run of twenty or more characters has at least five changes of letters and digits."""
    return any(len(_CHANGES.findall(run)) >= 5 for run in _RUN.findall(text))


_VALUE = r"(?P<value>\"[^\"\n]{1,500}\"|'[^'\n]{1,500}'|[^\s\"'`|;&)]{1,500})"
_BETWEEN = r"(?:\s{1,20}|[\"'],\s{0,20}(?=[\"']))"

_PROGRAM = re.compile(
    r"(?<![\w.-])(?P<tool>"
    + "|".join(sorted((re.escape(tool) for tool in (*MYSQL, *PASSWORD_OPTIONS, "curl")), key=len, reverse=True))
    + r")(?P<rest>[\s\"'](?:'[^'\n]{0,500}'|\"[^\"\n]{0,500}\"|[^|;&\n'\"]){0,2000})"
)
_ATTACHED_PASSWORD = re.compile(rf"(?<=[\s\"'])(?P<option>-p){_VALUE}")
_ATTACHED_LOGIN = re.compile(rf"(?<=[\s\"'])(?P<option>-[uU])(?=[\"']?[\w.@-]{{1,100}}:){_VALUE}")
_OPTION = re.compile(
    rf"(?<![\w-])(?P<option>(?:--[A-Za-z][\w-]{{0,60}}|-(?:passw(?:or)?d|pass|token|secret))(?:=|{_BETWEEN})){_VALUE}"
)
_LOGIN = re.compile(
    rf"(?<![\w-])(?P<option>(?:-u|--(?:proxy-)?user|--(?:basic-)?auth)(?:=|{_BETWEEN}))(?=[\"']?[\w.@-]{{1,100}}:){_VALUE}"
)
_OWNERS = re.compile(r"\b(?:docker|podman|nerdctl|chown|compose|install|rsync|sudo|systemd-run|kubectl|ctr)\b")
"""Programs whose `-u a:b` is a user and a group."""
_VARIABLE = re.compile(rf"(?<![\w.$-])(?P<option>[A-Z][A-Z0-9_]{{2,60}}=){_VALUE}(?=\s{{1,20}}[A-Za-z./])")
_HEADER = re.compile(
    r"(?P<option>\bauthorization[\"']?\s{0,5}[:,=]?\s{0,5}[\"'`]?(?:Basic|Bearer|Token|Digest)\s{1,5})"
    r"(?P<value>[\w+/=.~-]{1,2000})",
    re.I,
)
_BASIC = re.compile(r"(?P<option>\bBasic )(?P<value>[A-Za-z0-9+/]{4,400}={0,2})")
_STATEMENT = re.compile(r"(?P<option>\b(?:IDENTIFIED\s{1,20}BY|PASSWORD)\s{1,20})(?P<value>'[^'\n]{1,500}')", re.I)

_ELSEWHERE = re.compile(r"\$.*|<.*|\{.*|%[sdvq].*|\*+", re.S)
_PROSE = frozenset(
    "a an and are as can flag for from has if in instead is may must not of on option or the to was with".split()
)
_FILE = re.compile(r"\S+\.(?:pem|key|crt|cert|p12|json)")


def mask_commands(line: str) -> str:
    """The line with `***` for each secret of a command, of `Authorization` and of a statement that sets a password."""
    line = _PROGRAM.sub(_mask_program, line)
    line = _OPTION.sub(_mask_option, line)
    if _OWNERS.search(line) is None:
        line = _LOGIN.sub(_mask_login, line)
    line = _VARIABLE.sub(_mask_option, line)
    line = _HEADER.sub(_mask_value, line)
    line = _BASIC.sub(_mask_basic, line)
    return _STATEMENT.sub(_mask_value, line)


def _mask_program(found: re.Match[str]) -> str:
    tool, rest = found["tool"], found["rest"]
    if tool in MYSQL:
        rest = _ATTACHED_PASSWORD.sub(_mask_value, rest)
    elif tool == "curl":
        rest = _ATTACHED_LOGIN.sub(_mask_login, rest)
    for option in PASSWORD_OPTIONS.get(tool, ()):
        rest = re.sub(rf"(?<=[\s\"'])(?P<option>{option}(?:{_BETWEEN})?){_VALUE}", _mask_value, rest)
    return tool + rest


def _mask_option(found: re.Match[str]) -> str:
    name = re.split(r"[=\s\"']", found["option"], maxsplit=1)[0]
    value = found["value"].strip("\"'")
    is_other = value.startswith("-") or value == name.lstrip("-").replace("-", "_") or _FILE.fullmatch(value)
    is_prose = found["option"].endswith(" ") and found["value"].rstrip(",.") in _PROSE
    return found[0] if is_other or is_prose or not is_secret_name(name, value) else _mask_value(found)


def _mask_login(found: re.Match[str]) -> str:
    user, _, secret = found["value"].partition(":")
    quote = user[0] if user[0] in "\"'" else ""
    secret = secret.removesuffix(quote)
    is_other = not secret or secret.startswith("//") or _is_elsewhere(secret, quote)
    return found[0] if is_other else f"{found['option']}{user}:{MASK}{quote}"


def _mask_basic(found: re.Match[str]) -> str:
    """Mask the value where it decodes, as the scheme asks, to `user:password`."""
    try:
        said = binascii.a2b_base64(found["value"])
    except binascii.Error:
        return found[0]
    return f"{found['option']}{MASK}" if b":" in said and said.isascii() else found[0]


def _mask_value(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[0] in "\"'" else ""
    inner = value[1:-1] if quote else value
    return found[0] if _is_elsewhere(inner, quote) else f"{found['option']}{quote}{MASK}{quote}"


def _is_elsewhere(value: str, quote: str) -> bool:
    """Whether the value only refers to a secret; a shell takes `$` in single quotes literally."""
    if quote == "'" and value.startswith("$") and not value.startswith("${"):
        return False
    return _ELSEWHERE.fullmatch(value) is not None
