"""What ran out in a run, for people: the last thing that `loadwatch run` says."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from loadwatch_formats.terminal import terminal_text

_MOST = 10
_MOST_LINES = 12
_INDENT = " " * 9

Document = Mapping[str, Any]


def describe_findings(run: Document) -> list[str]:
    """A line for each finding, causes first, or that there is none, or why nobody can tell.

    Nothing of a run that was not looked at: one under way, or of a server that knows no findings.
    """
    diagnosis = cast("Document | None", run.get("diagnosis"))
    if diagnosis is None:
        return []
    findings = cast("Sequence[Document]", run.get("findings") or ())
    findings = [one for one in findings if not one.get("muted")]
    lines: list[str] = []
    said = cast("Document | None", diagnosis.get("headline"))
    if said is not None and said["kind"] != "found":
        lines.append(f"  {_text(said['title'])}: {_text(said['text'])}")
    if diagnosis["state"] == "cannot-tell":
        lines += _lines_to_add(cast("Sequence[Document]", diagnosis["missing"]))
    titles = {str(one["key"]): _text(one["title"]) for one in findings}
    for one in findings[:_MOST]:
        lines.append(f"  {one['severity']!s:8} {_text(one['sentence'])} ({one['certainty']})")
        causes = [titles.get(str(key), str(key).partition("|")[0]) for key in one["because_of"]]
        if causes:
            lines.append(f"  {_INDENT}because of: {', '.join(causes)}")
    if len(findings) > _MOST:
        lines.append(f"  {len(findings) - _MOST} more findings; --json shows them")
    return lines


def _lines_to_add(missing: Sequence[Document]) -> list[str]:
    """The lines that switch on what was not measured, each once."""
    told = [line for block in _blocks(missing) for line in block]
    if not told:
        return []
    lines = ["  these lines of a target in loadwatch.yml switch it on:"]
    lines += [f"    {line}" for line in told[:_MOST_LINES]]
    if len(told) > _MOST_LINES:
        lines.append(f"    {len(told) - _MOST_LINES} more lines; --json shows them")
    return lines


def _blocks(missing: Sequence[Document]) -> list[list[str]]:
    """The lines of each collector once; those that only some systems need, where nothing else is missing."""
    usual = [one for one in missing if one.get("usual", True)] or missing
    blocks: dict[str, list[str]] = {}
    for one in usual:
        name = ""
        for line in str(one["config"]).splitlines():
            if not line.startswith(" "):
                name = "" if line in blocks else line
                blocks.setdefault(line, [line])
            elif name:
                blocks[name].append(line)
    return list(blocks.values())


def _text(words: Any) -> str:
    """The English text on one line, without what a terminal would obey."""
    return terminal_text(" ".join(str(words["en"]).split()))
