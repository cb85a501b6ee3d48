"""Takes secrets out of a command before it is recorded."""

import re
from collections.abc import Sequence

MASK = "***"

_SECRET = r"[\w.-]*(?:token|passw(?:or)?d|secret|api[_-]?key|credential|private[_-]?key|access[_-]?key)[\w.-]*"
_HEADER = re.compile(
    rf"(?P<name>\b(?:(?:proxy-)?authorization|(?:set-)?cookie|{_SECRET}))(?P<colon>\s*:\s*)(?!//)(?P<value>[^\"'\n]+)",
    re.I,
)
_ASSIGNMENT = re.compile(rf"(?P<name>(?:^|(?<=[\s&?;'\"-])){_SECRET})=(?P<value>[^\s&'\"]+)", re.I)
_SCHEME = re.compile(r"\b(?P<scheme>Bearer|Basic|Digest)\s+[A-Za-z0-9+/=._~-]{6,}", re.I)
_USER = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s@]*@", re.I)
_OPTION = re.compile(rf"-{{1,2}}(?:{_SECRET}|authorization|cookie)", re.I)
_SPACED = re.compile(rf"(?P<name>\s-{{1,2}}(?:{_SECRET})\s+)(?P<value>[^\s'\"]+)", re.I)
_LOGIN_OPTIONS = frozenset({"-a", "-u", "--user", "--auth", "--basic-auth", "--proxy-user"})


def redact_command(command: Sequence[str]) -> list[str]:
    """The arguments with `***` in place of passwords, tokens, cookies and what is after `Authorization:`."""
    shown: list[str] = []
    hide_next = login_next = False
    for argument in command:
        if hide_next and not argument.startswith("-"):
            shown.append(MASK)
        elif login_next and ":" in argument:
            shown.append(f"{argument.partition(':')[0]}:{MASK}")
        else:
            shown.append(redact_text(argument))
        hide_next = _OPTION.fullmatch(argument) is not None
        login_next = argument in _LOGIN_OPTIONS
    return shown


def redact_text(text: str) -> str:
    """One argument, which may be a whole script."""
    text = _HEADER.sub(rf"\g<name>\g<colon>{MASK}", text)
    text = _ASSIGNMENT.sub(rf"\g<name>={MASK}", text)
    text = _SPACED.sub(rf"\g<name>{MASK}", text)
    text = _SCHEME.sub(rf"\g<scheme> {MASK}", text)
    return _USER.sub(rf"\g<before>:{MASK}@", text)
