"""Secrets of commands, headers and statements that stand somewhere in a line: of a script, of code, of a log.

A line is no command: what is an option is told by the program before it, or by its own name. What names a secret that
is elsewhere (`$PW`, `<password>`) stays. Each pattern is bounded, as lines of a patch are not.
"""

import binascii
import re

from loadwatch_collectors.runs.facts.secrets import MASK, MYSQL, PASSWORD_OPTIONS, is_secret_name

_VALUE = r"(?P<value>\"[^\"\n]{1,500}\"|'[^'\n]{1,500}'|[^\s\"'`|;&)]{1,500})"
_BETWEEN = r"(?:\s{1,20}|[\"'],\s{0,20}(?=[\"']))"
"""Between an option and its value; as elements of a list, too."""

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
    """Where it is what the scheme wants: `user:password` in Base64."""
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
    """Whether it names where the secret is; a shell takes `$` in single quotes as it stands."""
    if quote == "'" and value.startswith("$") and not value.startswith("${"):
        return False
    return _ELSEWHERE.fullmatch(value) is not None
