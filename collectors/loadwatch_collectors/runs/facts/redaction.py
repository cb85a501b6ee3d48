"""Takes secrets out of a command before it is recorded.

The arguments are read as the tools read them: options with their values, attached or behind them, headers, cookies,
assignments, addresses, bodies; scripts of a shell word by word. Rates, durations and addresses stay as they are; what
is masked too much is only ever a value. Runs that earlier agents recorded stay as those recorded them.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from loadwatch_collectors.runs.facts.lines import (
    MASK,
    MYSQL,
    PASSWORD_OPTIONS,
    is_secret_name,
    mask_commands,
    mask_values,
)

LONGEST_WORD = 4_096
"""Characters of one argument that are kept. It bounds what hostile text can cost, too."""

_NAME = r"[A-Za-z_][\w.\[\]-]*"
_JSON = re.compile(
    rf"(?P<open>\\?[\"'])(?P<name>{_NAME})\\?[\"']\s*:\s*(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\\"[^\"\\]*|[^\s,}}\]]+)"
)
_HEADER = re.compile(rf"(?<![\w/@:.-])(?P<name>-{{0,2}}{_NAME})(?P<colon>\s*:\s*)(?!//)(?P<value>[^\"'\n]+)")
_ASSIGNMENT = re.compile(rf"(?<![\w.\[\]-])(?P<name>-{{0,2}}{_NAME})=(?P<value>\"[^\"]*\"?|'[^']*'?|[^\s&;,|\"'#]+)")
_SCHEME = re.compile(r"\b(?P<scheme>Bearer|Basic|Digest|Token)\s+[A-Za-z0-9+/=._~-]{6,}", re.I)
_USER = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s]*@", re.I)
_TOKEN_USER = re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]*://)[^/\s:@]{16,}@", re.I)
_DSN = re.compile(r"(?P<before>(?<![\w/:.@-])[\w.+-]+):[^\s@/\"']+@(?=[\w\[(])")
_LOGIN = re.compile(r"(?P<user>[^\s:=/]+):(?!//)(?P<secret>.+)", re.S)
_COOKIE = re.compile(r"(?P<name>[^\s=;\"']+)=(?P<value>[^;\"']*)")
_WORD = re.compile(r"(?:[^\s\"'\\;|&<>()]|\\.|\"(?:[^\"\\]|\\.)*\"|'[^']*')+|[;|&\n()]+", re.S)

_LOGIN_OPTIONS = frozenset(
    "-a -A -P -u -U -E --user --auth --basic-auth --proxy-user --proxy-auth --login --cert --userpass".split()
)
_COOKIE_OPTIONS = frozenset("-b -C --cookie --cookies".split())
_ATTACHED = re.compile(r"(?P<option>-[aAPuUEbC])(?P<value>[^-\s].*)", re.S)
_SHELL_OPTIONS = re.compile(r"-[a-z]*c|--command")
_LONG_SINGLE_DASH = frozenset(
    "ab bombardier fortio ghz hey java jmeter k6 oha vegeta wrk wrk2 docker podman ssh".split()
)
"""Tools whose `-p…` is no password: their options have one dash and whole words, or `-p` is a port or a file."""

_P_WORDS = frozenset(
    "page parallel params password path pattern pause payload peak percent percentiles period persistent ping pipeline"
    " plain plan platform poll pool port post pprof prefix preset pretty print prio probe process processes procs"
    " profile progress project proto protocol proxy publish".split()
)
_WRAPPERS = frozenset("env exec ionice nice nohup stdbuf sudo taskset time timeout".split())


def redact_command(command: Sequence[str]) -> list[str]:
    """The arguments with `***` in place of secrets; as many as before, the longest ones cut."""
    return _redact_words([word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…" for word in command])


def redact_text(text: str) -> str:
    text = text if len(text) <= LONGEST_WORD + 1 else f"{text[:LONGEST_WORD]}…"
    text = _JSON.sub(_mask_json, mask_commands(text))
    text = _HEADER.sub(_mask_header, text)
    text = _ASSIGNMENT.sub(_mask_assignment, text)
    text = _SCHEME.sub(rf"\g<scheme> {MASK}", text)
    text = _USER.sub(rf"\g<before>:{MASK}@", text)
    text = _TOKEN_USER.sub(rf"\g<before>{MASK}@", text)
    text = _DSN.sub(rf"\g<before>:{MASK}@", text)
    return mask_values(text)


def redact_value(name: str, value: str) -> str:
    return MASK if value and is_secret_name(name, value) else redact_text(value)


def _redact_words(words: Sequence[str]) -> list[str]:
    shown: list[str] = []
    tool = before = ""
    for word in words:
        shown.append(_redact_word(word, before, tool))
        if re.fullmatch(r"[;|&\n()]+", word):
            tool = before = ""
            continue
        if not tool and not word.startswith("-") and "=" not in word:
            name = PurePosixPath(word).name
            tool = "" if name in _WRAPPERS or re.fullmatch(r"[\d.]+[smhd]?", name) else name
        # A word that held its own secret says nothing of the next one.
        before = word if shown[-1] == word else ""
    return shown


def _redact_word(word: str, before: str, tool: str) -> str:
    if _SHELL_OPTIONS.fullmatch(before) and re.search(r"\s", word):
        return _redact_script(word)
    behind = _redact_behind(word, before, tool)
    if behind is not None:
        return behind
    if word.startswith("-"):
        return _redact_option(word, tool)
    name, equals, value = word.partition("=")
    if equals and re.fullmatch(_NAME, name) and "&" not in value:
        return f"{name}={redact_value(name, value)}"
    return redact_text(word)


def _redact_behind(word: str, before: str, tool: str) -> str | None:
    """The word as the value of the option before it; None where that says nothing of it."""
    if not before.startswith("-") or "=" in before:
        return None
    if before in PASSWORD_OPTIONS.get(tool, ()):
        return MASK
    if before in _COOKIE_OPTIONS:
        return _mask_cookies(word)
    login = _LOGIN.fullmatch(word) if before in _LOGIN_OPTIONS else None
    if login is not None:
        return f"{login['user']}:{MASK}"
    is_value = not word.startswith("--") and "://" not in word and len(before.strip("-")) > 1
    if is_value and is_secret_name(before, word) and not re.fullmatch(r"\S+\.(?:pem|key|crt|cert|p12|json)", word):
        return MASK
    return None


def _redact_option(word: str, tool: str) -> str:
    name, equals, value = word.partition("=")
    bare = name.lstrip("-")
    if equals and re.fullmatch(_NAME, bare):
        if name in _LOGIN_OPTIONS and (login := _LOGIN.fullmatch(value)) is not None:
            return f"{name}={login['user']}:{MASK}"
        if name in _COOKIE_OPTIONS:
            return f"{name}={_mask_cookies(value)}"
        if ":" not in bare and is_secret_name(bare, value):
            return f"{name}={MASK}"
    for option in PASSWORD_OPTIONS.get(tool, ()):
        if word.startswith(option) and len(word) > len(option):
            return option + MASK
    if _is_attached_password(word, tool):
        return f"-p{MASK}"
    attached = _ATTACHED.fullmatch(word)
    if attached is not None:
        option, value = attached["option"], attached["value"]
        if option in _COOKIE_OPTIONS and "=" in value:
            return option + _mask_cookies(value)
        login = _LOGIN.fullmatch(value)
        if option in _LOGIN_OPTIONS and login is not None:
            return f"{option}{login['user']}:{MASK}"
    return redact_text(word)


def _is_attached_password(word: str, tool: str) -> bool:
    if not word.startswith("-p") or len(word) < 3:
        return False
    if tool in MYSQL:
        return True
    rest = word[2:]
    is_word = any(f"p{rest.partition('-')[0].partition('=')[0]}" == known for known in _P_WORDS)
    return not (tool in _LONG_SINGLE_DASH or is_word or "=" in rest or re.fullmatch(r"[\d:./]+|.*\.\w{1,5}", rest))


def _redact_script(text: str) -> str:
    found = list(_WORD.finditer(text))
    plain = [_unquote(word[0]) for word in found]
    parts: list[str] = []
    end = 0
    for word, inner, shown in zip(found, plain, _redact_words(plain), strict=True):
        kept = word[0] if shown == inner else _quote_as(word[0], shown)
        parts += (text[end : word.start()], kept)
        end = word.end()
    return redact_text("".join([*parts, text[end:]]))


def _unquote(word: str) -> str:
    return re.sub(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", lambda found: found[1] or found[2] or "", word)


def _quote_as(word: str, shown: str) -> str:
    quote = word[0] if word[0] in "\"'" else ("'" if re.search(r"\s", shown) else "")
    return f"{quote}{shown}{quote}"


def _mask_json(found: "re.Match[str]") -> str:
    value = found["value"]
    if not is_secret_name(found["name"], value.strip("\\\"'")):
        return found[0]
    quote = re.match(r"\\?[\"']?", value)
    opening = quote[0] if quote else ""
    closing = opening if value.endswith(opening) and not value.startswith("\\") else ""
    return found[0][: -len(value)] + opening + MASK + closing


def _mask_header(found: "re.Match[str]") -> str:
    if not is_secret_name(found["name"], found["value"].strip()):
        return found[0]
    return f"{found['name']}{found['colon']}{MASK}"


def _mask_assignment(found: "re.Match[str]") -> str:
    value = found["value"]
    if not is_secret_name(found["name"], value.strip("\"'")):
        return found[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{found['name']}={quote}{MASK}{quote}"


def _mask_cookies(text: str) -> str:
    return _COOKIE.sub(rf"\g<name>={MASK}", text)
