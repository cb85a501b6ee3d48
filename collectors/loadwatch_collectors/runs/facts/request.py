"""What the user asked for on the command line, checked, as the document that begins a run."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from loadwatch_formats.run_facts import FACTS, OPTIONS, Fact
from loadwatch_formats.times import parse_rfc3339

from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.patch import git
from loadwatch_collectors.runs.facts.redaction import redact_command, redact_value
from loadwatch_collectors.runs.tools import Target
from loadwatch_collectors.settings import parse_duration

_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "BRANCH_NAME")


class Origin(NamedTuple):
    """Where a run was started from; a field is empty or None where nothing tells."""

    commit: str = ""
    branch: str = ""
    dirty: bool | None = None
    author: str = ""
    host: str = ""


def find_origin(directory: Path, environment: Mapping[str, str]) -> Origin:
    """What git and the system say; without git, or outside of a repository, their part stays empty.

    On a detached head, as in continuous integration, the branch is that of the usual variables. Files that git does
    not track are no change.
    """
    commit = _git(directory, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    branch = _git(directory, "symbolic-ref", "--short", "--quiet", "HEAD") or ""
    changes = _git(directory, "status", "--porcelain", "--untracked-files=no") if commit else None
    if commit and not branch:
        branch = next((environment[name] for name in _BRANCH_VARIABLES if environment.get(name)), "")
    author = _git(directory, "config", "user.name") or ""
    if not author:
        with suppress(OSError, KeyError):
            author = getpass.getuser()
    return Origin(
        commit=commit,
        branch=branch if commit else "",
        dirty=None if changes is None else bool(changes),
        author=author,
        host=socket.gethostname(),
    )


def _git(directory: Path, *arguments: str) -> str | None:
    said = git(directory, *arguments)
    return None if said is None else said.decode("utf-8", "replace").strip()


def parse_parameters(texts: Sequence[str]) -> dict[str, str]:
    """`key=value` pairs, with `***` in place of a value that is a secret.

    Raises:
        UsageError: one is not such a pair.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--param {text!r} is not KEY=VALUE")
        found[key.strip()] = redact_value(key.strip(), value.strip())
    return found


def parse_links(issues: Sequence[str], links: Sequence[str]) -> list[dict[str, str]]:
    """The documents of issues and of links, which may have `=TITLE` behind the address.

    Raises:
        UsageError: one is no http address.
    """
    found = [{"url": url, "title": "issue"} for url in issues]
    for text in links:
        url, equals, title = text.rpartition("=")
        # `=` may also be a part of the address's query.
        titled = bool(equals and title) and url.startswith(("http://", "https://")) and " " not in url
        titled = titled and ("?" not in url or " " in title)
        found.append({"url": url, "title": title} if titled else {"url": text, "title": ""})
    for link in found:
        if not link["url"].startswith(("http://", "https://")) or " " in link["url"]:
            raise UsageError(f"{link['url']!r} is not an address such as https://host/path")
    return found


def parse_start(text: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 time.

    Raises:
        UsageError: it is no such time, or says no zone.
    """
    try:
        return parse_rfc3339(text) // 1_000_000
    except ValueError as error:
        raise UsageError(str(error)) from None


def parse_target(options: Mapping[str, Any], found: Target) -> Target:
    """What the user said, else what the tool's arguments say.

    Raises:
        UsageError: the duration is none.
    """
    rate, duration, concurrency = (options[name] for name in ("target_rate", "duration", "concurrency"))
    try:
        seconds = parse_duration(duration) if duration else found.duration_seconds
    except ValueError as error:
        raise UsageError(f"--duration: {error}") from error
    return Target(
        rate=rate if rate is not None else found.rate,
        duration_seconds=seconds,
        concurrency=concurrency if concurrency is not None else found.concurrency,
    )


def make_facts(
    options: Mapping[str, Any], *, run: str, tool: str, target: Target, origin: Origin, started_ms: int
) -> dict[str, Any]:
    """The document `RunIn` of the API.

    Raises:
        UsageError: an option is wrong.
    """
    given_commit = options["commit"]
    facts: dict[str, Any] = {
        **{fact.name: _fact_value(fact, options[fact.name]) for fact in OPTIONS},
        "id": run,
        "started_ms": started_ms,
        "tool": tool,
        "target_rate": target.rate,
        "concurrency": target.concurrency,
        "target_duration_seconds": target.duration_seconds,
        "parameters": parse_parameters(options["parameters"]),
        "commit": given_commit or origin.commit,
        "branch": options["branch"] or origin.branch,
        "dirty": None if given_commit else origin.dirty,
        "links": parse_links(options["issues"], options["links"]),
        "author": options["author"] or origin.author,
        "host": origin.host,
        "command": redact_command(options["command"]),
        "expectations": list(options["expectations"]),
    }
    # What may have been found rather than typed is shortened to what a run may have.
    most = {fact.name: fact.most if fact.several else fact.longest for fact in FACTS}
    return {**facts, **{name: facts[name][: most[name]] for name in ("branch", "author", "host", "command")}}


def _fact_value(fact: Fact, given: Any) -> Any:
    if given is None:
        return fact.make()
    return list(given) if fact.several else given
