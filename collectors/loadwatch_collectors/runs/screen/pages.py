"""What `loadwatch runs` prints for people, from the server's documents."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from loadwatch_formats.numbers import format_count, format_value
from loadwatch_formats.terminal import terminal_text
from loadwatch_formats.terminal_table import Column, draw_table

from loadwatch_collectors.runs.screen.status import change, clock, describe_run, percent

# What ran out in a run, for people: the last thing that `loadwatch run` says.

_MOST = 10
_MOST_LINES = 12

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
            lines.append(f"{'':11}because of: {', '.join(causes)}")
    if len(findings) > _MOST:
        lines.append(f"  {len(findings) - _MOST} more findings; --json shows them")
    return lines


def _lines_to_add(missing: Sequence[Document]) -> list[str]:
    told = [line for block in _blocks(missing) for line in block]
    if not told:
        return []
    lines = ["  these lines of a target in loadwatch.yml switch it on:"]
    lines += [f"    {line}" for line in told[:_MOST_LINES]]
    if len(told) > _MOST_LINES:
        lines.append(f"    {len(told) - _MOST_LINES} more lines; --json shows them")
    return lines


def _blocks(missing: Sequence[Document]) -> list[list[str]]:
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
    return terminal_text(" ".join(str(words["en"]).split()))


_INDENT = " " * 4
_COMMIT = 10
_ENDPOINTS = 20
_NUMBER, _TIME = (partial(format_value, unit=unit) for unit in ("count", "seconds"))
_LIST_COLUMNS = (
    Column(title="ID"),
    Column(title="NAME", elastic=True),
    Column(title="SCENARIO", elastic=True),
    Column(title="TOOL", elastic=True),
    Column(title="STATE"),
    Column(title="VERDICT"),
    Column(title="REQUESTS", right=True),
    Column(title="RATE", right=True),
    Column(title="GOOD", right=True),
    Column(title="P95", right=True),
    Column(title="COMMIT"),
)


def list_page(document: Document, *, available: int | None = None) -> str:
    runs = cast("Sequence[Document]", document["runs"])
    if not runs:
        return "no runs"
    rows = [
        [
            run["id"] + (" *" if run["is_baseline"] else ""),
            run["name"],
            " ".join(part for part in (run["scenario"], run["scenario_version"]) if part),
            run["tool"],
            "silent" if run["silent"] else run["state"],
            run["verdict"] or "-",
            _maybe(run["requests"], format_count),
            _maybe(run["rate"], _NUMBER),
            _maybe(run["success_ratio"], percent),
            _maybe(run["p95_seconds"], _TIME),
            run["commit"][:_COMMIT] + ("+" if run["dirty"] else ""),
        ]
        for run in runs
    ]
    table = draw_table(_LIST_COLUMNS, rows, available=available)
    more = document["total"] - len(runs)
    return table + (f"\n{more} more; --limit shows them" if more > 0 else "")


def show_page(run: Document, review: Document, *, available: int | None = None) -> str:
    lines = describe_run(run)
    facts = [
        ("name", run["name"]),
        ("scenario", " ".join(part for part in (run["scenario"], run["scenario_version"]) if part)),
        ("tool", run["tool"]),
        ("command", " ".join(run["command"])),
        (
            "started",
            run["started_at"] + (f", {clock((run['ended_ms'] - run['started_ms']) / 1000)}" if run["ended_ms"] else ""),
        ),
        ("target", _target(run)),
        ("commit", " ".join(filter(None, (run["commit"], run["branch"], "(dirty)" if run["dirty"] else "")))),
        ("parameters", ", ".join(f"{key}={value}" for key, value in run["parameters"].items())),
        ("tags", ", ".join(run["tags"])),
        ("by", " on ".join(part for part in (run["author"], run["host"]) if part)),
        ("steady", _steady(run["steady_window"])),
        ("aborted", run["abort_reason"]),
        ("exit status", "" if run["exit_code"] is None else str(run["exit_code"])),
    ]
    lines += [f"  {name}: {value}" for name, value in facts if value]
    lines += [f"  {remark['kind']}: {remark['text']}" for remark in run["remarks"]]
    found = describe_findings(run)
    if found:
        lines += ["", "what ran out:", *found]
    decided = describe_actions(review)
    if decided:
        lines += ["", "actions:", *decided]
    endpoints = cast("Sequence[Document]", run["endpoints"])
    if endpoints:
        lines += ["", _endpoints(endpoints, available)]
    return "\n".join(lines)


def compare_page(document: Document, *, available: int | None = None) -> str:
    groups = cast("Sequence[Document]", document["groups"])
    labels = [f"{group['label']} ({len(group['runs'])})" for group in groups]
    columns = [
        Column(title="FIGURE", elastic=True),
        *(Column(title=label, right=True, elastic=True) for label in labels),
    ]
    rows: list[list[str]] = []
    for row in cast("Sequence[Document]", document["rows"]):
        unit = str(row["metric"]["unit"])
        cells = [_cell(cell, unit) for cell in row["cells"]]
        if any(cells):
            rows.append([str(row["metric"]["title"]), *(cell or "-" for cell in cells)])
    # A server of before says nothing in one sentence.
    headlines = [str(headline["text"]) for headline in document.get("headlines", ())]
    lines = [*headlines, draw_table(columns, rows, available=available)]
    for difference in cast("Sequence[Document]", document["configuration"]):
        for changed in cast("Sequence[Document]", difference["changes"]):
            if changed["deliberate"] or changed["important"]:
                what = f"{difference['run']}: {changed['target']} {changed['key']}"
                lines.append(f"{what}: {changed['before']} -> {changed['after']}")
    lines += [f"note: {remark}" for remark in document["remarks"]]
    return "\n".join(lines)


def _endpoints(endpoints: Sequence[Document], available: int | None) -> str:
    columns = (
        Column(title="ENDPOINT", elastic=True),
        *(Column(title=title, right=True) for title in ("REQUESTS", "RATE", "GOOD", "P50", "P95", "P99", "MAX")),
    )
    rows = [
        [
            str(endpoint["name"]),
            format_count(endpoint["requests"]),
            _maybe(endpoint["rate"], _NUMBER),
            _maybe(endpoint["success_ratio"], percent),
            *(_maybe(endpoint["latency_seconds"][name], _TIME) for name in ("p50", "p95", "p99", "max")),
        ]
        for endpoint in endpoints[:_ENDPOINTS]
    ]
    table = draw_table(columns, rows, available=available)
    more = len(endpoints) - len(rows)
    return table + (f"\n{more} more endpoints; --json shows them" if more > 0 else "")


_OPINIONS = {"unclear": "cannot tell", "neutral": "differs"}
_UNJUDGED = ("far-from-limit", "limit-unknown")


def _cell(cell: Document, unit: str) -> str:
    if cell["value"] is None:
        return ""
    text = format_value(float(cell["value"]), unit)
    if cell["delta"] is not None:
        opinion = "not judged" if cell["remark"] in _UNJUDGED else str(cell["opinion"])
        text += f" ({change(float(cell['delta']))} {_OPINIONS.get(opinion, opinion)})"
    return text


def _steady(window: Document | None) -> str:
    if window is None:
        return ""
    return f"{clock(window['from_seconds'])} to {clock(window['to_seconds'])} ({window['source']}, {window['reason']})"


def _target(run: Document) -> str:
    rate, duration = run["target_rate"], run["target_duration_seconds"]
    parts = [
        format_value(rate, "per_second") if rate is not None else "",
        f"for {clock(duration)}" if duration is not None else "",
    ]
    return " ".join(part for part in parts if part)


def _maybe(value: Any, shown: Any) -> str:
    return "-" if value is None else str(shown(value))


def describe_actions(review: Document) -> list[str]:
    scores = {one["id"]: one["scores"] for one in _listed(review, "standings")}
    lines: list[str] = []
    for action in _listed(review, "actions"):
        if not (action["text"].strip() or action["expected"].strip()):
            continue
        facts = [action["state"], action["owner"], f"due {action['due']}" if action["due"] else "", action["expected"]]
        lines.append(f"  {action['text']} ({', '.join(fact for fact in facts if fact)})")
        for score in scores.get(action["id"], [])[:1]:
            lines.append(f"{_INDENT}{_score_text(score)}, by {score['run']}")
    for score in _listed(review, "scored"):
        lines.append(f"  of {score['of_run']}: {score['text']} ({score['expected']})")
        lines.append(f"{_INDENT}{_score_text(score)}")
    return lines


def _listed(review: Document, key: str) -> Sequence[Document]:
    # A server of before knows no actions.
    return cast("Sequence[Document]", review.get(key) or ())


def _score_text(score: Document) -> str:
    parts = [str(score["state"]).replace("-", " ")]
    if score["actual"] is not None:
        parts.append(f"{format_value(float(score['actual']), score['unit'])} ({score['window']})")
    return ", ".join([*parts, score["detail"]] if score["detail"] else parts)
