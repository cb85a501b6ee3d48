"""Writes docs/reference/*.md from the code: what can be configured, asked, drawn, watched and collected.

Usage: generate_reference.py
"""

import dataclasses
import itertools
import json
import re
import sys
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import click
from loadwatch_backend.alerting.rules.files import shipped_rules
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.core.settings import PREFIX, SECRETS, Settings
from loadwatch_backend.findings.detectors.saturation import kind_of
from loadwatch_backend.findings.registry import DETECTORS
from loadwatch_collectors.commands.cli import GROUP
from loadwatch_collectors.config import ServerSettings, SpoolSettings
from loadwatch_collectors.settings import BYTES, DURATION, LIMIT
from loadwatch_collectors.sources.aws.cost import estimate_cost, make_loads, read_prices
from loadwatch_collectors.sources.aws.iam import plan_resources
from loadwatch_collectors.sources.aws.model import AccountRegion, Resource
from loadwatch_collectors.sources.aws.presets import PresetFile, preset_files
from loadwatch_collectors.sources.registry import SOURCES
from loadwatch_formats.metrics.model import MetricInfo, metrics_of

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference"
NOTE = "<!-- Written by `make generate`; do not edit. -->\n\n"


def cell(text: object) -> str:
    """Text that stands in one cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines) + "\n"


def type_name(hint: Any) -> str:
    """How a setting's type is called in loadwatch.yml."""
    metadata = getattr(hint, "__metadata__", ())
    if DURATION in metadata:
        return "duration"
    if BYTES in metadata:
        return "size"
    if LIMIT in metadata:
        return "limit"
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return type_name(next(part for part in arguments if part is not type(None)))
    if origin in (list, tuple, Sequence):
        return f"list of {type_name(arguments[0])}"
    if origin is dict or origin is Mapping:
        return f"{type_name(arguments[1])} by name"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return names.get(hint, "block" if dataclasses.is_dataclass(hint) else getattr(hint, "__name__", str(hint)).lower())


def nested_settings(hint: Any) -> type[Any] | None:
    """The settings dataclass inside a type, if there is one."""
    if dataclasses.is_dataclass(hint):
        return cast("type[Any]", hint)
    return next((found for part in get_args(hint) if (found := nested_settings(part)) is not None), None)


def setting_rows(settings: type[Any], prefix: str = "") -> Iterator[Sequence[str]]:
    """Key, type, default and help of every field, nested ones after their block."""
    hints = get_type_hints(settings, include_extras=True)
    for field in dataclasses.fields(settings):
        hint = hints[field.name]
        inner = nested_settings(hint)
        rest = field.metadata.get("rest", "")
        if rest:
            yield f"`{rest}`", type_name(get_args(hint)[1]), "", field.metadata["help"]
            continue
        if field.default is not dataclasses.MISSING:
            default = "" if field.default is None else f"`{field.default}`"
        else:
            default = "" if field.default_factory is not dataclasses.MISSING else "**required**"
        if inner is not None:
            default = ""
        yield f"`{prefix}{field.name}`", type_name(hint), default, field.metadata.get("help", "")
        if inner is not None:
            listed = "[]" if type_name(hint).startswith("list") else ""
            yield from setting_rows(inner, f"{prefix}{field.name}{listed}.")


def metric_table(metrics: Sequence[MetricInfo]) -> str:
    """Name, type, unit and help."""
    return table(
        ("metric", "type", "unit", "help"),
        [(f"`{metric.name}`", metric.type, metric.unit, metric.help) for metric in metrics],
    )


def configuration_page() -> str:
    """loadwatch.yml."""
    header = ("key", "type", "default", "meaning")
    parts = [
        "# loadwatch.yml\n\nThe agent's configuration. Unknown keys are errors that name the line;"
        " `loadwatch check --config loadwatch.yml` validates it and runs every collector.\n",
        "Durations are written like `500ms`, `1s`, `5m`; sizes like `64MB`, `1GiB`.\n",
        "## `server`\n\n" + table(header, list(setting_rows(ServerSettings))),
        "## `spool`\n\n" + table(header, list(setting_rows(SpoolSettings))),
        "## `targets[]`\n\nEach target has `job`, and may have `instance` (default: this host's name), `interval`,"
        " `timeout`, `labels`, and one or more of these blocks.\n",
    ]
    for source in SOURCES:
        parts.append(f"### `{source.name}`\n\n{source.help}\n\nTimeout: {source.timeout_seconds:g} s by default.\n")
        rows = list(setting_rows(source.settings))
        if rows:
            parts.append(table(header, rows))
        if source.privileges:
            parts.append(
                table(
                    ("permission", "lost without it", "how to grant it"),
                    [(entry.permission, entry.lost, entry.remedy) for entry in source.privileges],
                )
            )
    return "\n".join(parts)


def metrics_page() -> str:
    """What the agent sends."""
    parts = [
        "# Metrics of the agent\n\nNames and labels are those of the established exporters where one exists.\n",
        "## Health, for each target and collector\n\n" + metric_table(metrics_of("loadwatch")["collectors"]),
        "## The agent itself\n\n" + metric_table(metrics_of("loadwatch")["agent"]),
    ]
    parts += [f"## {source.name}\n\n{source.help}\n\n" + metric_table(source.metrics) for source in SOURCES]
    parts.append(
        "## Runs\n\nWhat `loadwatch run` sends while a run is under way.\n\n"
        + metric_table(metrics_of("load")["loadtest"])
    )
    return "\n".join(parts)


def server_metrics_page() -> str:
    """What the server tells of itself."""
    shown = "# Metrics of the server\n\nWhat `/metrics` shows, beside `process_*` and `python_info`.\n\n"
    own = "\n\nIn the server's own store alone:\n\n"
    metrics = metrics_of("loadwatch")
    return shown + metric_table(metrics["server"]) + own + metric_table(metrics["findings"])


def preset_cost(preset: PresetFile) -> float:
    """USD that one resource costs in 30 days, read each minute."""
    resource = Resource(
        kind=preset.kind,
        name="one",
        place=AccountRegion(account_id="", region=""),
        dimensions=tuple((name, "one") for name in preset.dimensions),
    )
    prices = read_prices()
    wanted = plan_resources([resource], {preset.name: preset})
    return estimate_cost(make_loads(wanted, prices), prices, interval_seconds=60).total


def only_words(only: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Sentences on what a resource must have."""
    for attribute, patterns in only.items():
        words = [f"not `{word[1:]}`" if word.startswith("!") else f"`{word}`" for word in patterns]
        yield f"Where `{attribute}` is {' or '.join(words)}."


def preset_rows(source: PresetFile) -> Iterator[Sequence[object]]:
    """Series, CloudWatch's name, unit, length of a point, what absence means, priority and help."""
    for metric in source.metrics:
        names = " ".join(f"`{name}`" for name in metric.names)
        absent = "zero" if metric.absent == "zero-when-delivered" else ""
        told = (f"`{metric.period_series}` tells its period.",) if metric.period_series else ()
        text = " ".join((metric.help, *told, *only_words(metric.only)))
        yield names, metric.name, metric.unit, f"{metric.period_seconds} s", absent, metric.priority, text
    for query in source.queries:
        name, period = f"`{query.series_name}`", f"{source.period:g} s"
        yield name, query.metric, query.unit, period, "", source.priority, query.help
    for value in source.values:
        yield f"`{value.series}`", f"`{value.path}`", value.unit, "", "", source.priority, value.help


def aws_presets_page() -> str:
    """What is read of each kind of AWS resource."""
    prices = read_prices()
    parts = [
        "# Presets of the collector `cloudwatch`\n\nWhat is read of each kind of resource. `presets: [...]` in"
        " loadwatch.yml takes names and groups; without it all presets are used whose resources are found, except where"
        " it says otherwise. Costs are those of one resource in 30 days, read each minute, by AWS's list prices of"
        f" {prices.date}. Priority 0 is headroom, 2 is what a budget slows down first.\n",
    ]
    for name, source in preset_files().items():
        facts = [f"Group `{source.group}`."]
        if not source.default:
            facts.append("Used only where it is named.")
        facts += only_words(source.only)
        if source.metrics:
            dimensions = ", ".join(f"`{dimension}`" for dimension in source.dimensions)
            facts.append(f"Namespace `{source.namespace}`, dimensions {dimensions}.")
            facts.append(f"{len(source.metrics)} metrics, {preset_cost(source):.2f} USD.")
        facts.append(f"Needs {', '.join(f'`{action}`' for action in source.permissions)}.")
        facts.append(f"[AWS's page]({source.source}).")
        header = ("series", "at AWS", "unit", "point", "absent means", "priority", "help")
        parts.append(f"## {name}\n\n{source.title}. {' '.join(facts)}\n\n" + table(header, list(preset_rows(source))))
    return "\n".join(parts)


def settings_page() -> str:
    """The server's environment variables."""
    rows: list[Sequence[object]] = []
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        shown = "" if default in (None, ()) else f"`{getattr(default, 'value', default)}`"
        also = ", `…_FILE`" if name in SECRETS else ""
        rows.append((f"`{PREFIX}{name.upper()}`{also}", shown, field.description or ""))
    return (
        "# Settings of the server\n\nEnvironment variables. With `_FILE` at the end of its name, a secret's variable is"
        " the path of a file that holds the secret.\n\n" + table(("variable", "default", "meaning"), rows)
    )


def signals_page() -> str:
    """Signals and resources."""
    parts = [
        "# Signals\n\nNamed PromQL expressions; panels, and later run summaries and reports, refer to them."
        " `$window` is the range that rates look back over: the sampling interval, at least 5 s.\n",
        "## Resources\n\nHeadroom is 1 - used/limit.\n\n"
        + table(
            ("id", "title", "used", "limit", "help"),
            [
                (f"`{entry.id}`", entry.title.en, f"`{entry.used}`", f"`{entry.limit}`", entry.help.en)
                for entry in shipped_catalogue().resources
            ],
        ),
    ]
    for group in shipped_catalogue().groups:
        rows = [
            (f"`{entry.id}`", panel.title.en, entry.title.en, entry.unit, f"`{entry.expression}`", entry.help.en)
            for panel in group.panels
            for entry in panel.signals
        ]
        parts.append(f"## {group.title.en}\n\n" + table(("id", "panel", "title", "unit", "expression", "help"), rows))
    return "\n".join(parts)


def rule_rows(file: Path) -> Iterator[Sequence[object]]:
    """Alert with its page, severity, how long it must hold, and the comment above it that says when it fires."""
    text = file.read_text(encoding="utf-8")
    rules = [rule for group in read_rules(text.encode(), file.name, 1_000).groups for rule in group.rules]
    said = re.findall(r"^ +# When: (.+)\n +- alert: (\w+)$", text, re.MULTILINE)
    if [rule.name for rule in rules] != [name for _, name in said]:
        raise SystemExit(f"{file}: each alert needs a comment `# When: ...` right above it")
    for rule, (when, name) in zip(rules, said, strict=True):
        page = rule.annotations["runbook_url"].rpartition("/")[2]
        after = f"{rule.for_ms // 1_000} s" if rule.for_ms else "at once"
        link = f"../../{file.parent.relative_to(ROOT)}/runbooks/{page}.md"
        yield f"[{name}]({link})", rule.labels["severity"], after, when


def default_rules_page() -> str:
    """The rules that come with Loadwatch."""
    parts = [
        "# Default rules\n\nHow to use and change them: [guide](../guide/rules.md#default-rules). `after` is how long"
        " the condition has to hold.\n"
    ]
    for name, file in shipped_rules().items():
        lines = file.read_text(encoding="utf-8").splitlines()
        about = " ".join(line[2:] for line in itertools.takewhile(lambda line: line.startswith("# "), lines))
        link = f"[`{name}`](../../{file.relative_to(ROOT)})"
        rows = table(("alert", "severity", "after", "when"), list(rule_rows(file)))
        parts.append(f"## {file.parent.name}\n\n{link}: {about}\n\n{rows}")
    return "\n".join(parts)


def findings_page() -> str:
    """All findings, in the order in which causes come before consequences; those of packs' resources come last."""
    resources = {one.finding_id: one for one in shipped_catalogue().resources if one.finding_id}
    told = [(one.kind, one.needs, one.reads, one.follows) for one in DETECTORS]
    told += [(kind_of(one), (), (), one.causes) for one in resources.values()]
    kinds = [kind for kind, *_ in told]
    names = {kind.id for kind in kinds}
    rows = [(f"[`{kind.id}`](#{kind.id})", kind.title.en, kind.severity) for kind in kinds]
    parts = [
        "# Findings\n\nWhat a run's `findings`, `GET /api/findings` and alerts may say; how they are judged:"
        " [guide](../guide/findings.md). The ids are stable.\n\n" + table(("id", "title", "severity"), rows)
    ]
    for kind, needs, reads, follows in told:
        facts = [
            ("needs one of", ", ".join(f"`{metric}`" for metric in needs)),
            ("also reads", ", ".join(f"`{metric}`" for metric in reads)),
            ("may follow from", ", ".join(f"[`{id}`](#{id})" for id in follows if id in names)),
            ("rule of thumb", f"{kind.rule.text.en} ({kind.rule.source})"),
            ("refuted by", kind.refuted_by.en),
        ]
        lines = "\n".join(f"- *{name}*: {text}" for name, text in facts if text)
        parts.append(f"## {kind.id}\n\n**{kind.title.en}**, {kind.severity}. {kind.explanation.en}\n\n{lines}\n")
    return "\n".join(parts)


def command_pages(command: click.Command, path: str) -> Iterator[str]:
    """Help of a command and of all below it."""
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    yield f"## {path}\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from command_pages(inner, f"{path} {name}")


def command_line_page() -> str:
    """All commands."""
    # From the source: an environment that was installed before a command came does not know it.
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    commands = [EntryPoint(name, value, GROUP) for name, value in sorted(declared[GROUP].items())]
    parts = ["# Command line\n"]
    for entry in commands:
        parts += command_pages(cast(click.Command, entry.load()), f"loadwatch {entry.name}")
    return "\n".join(parts)


def api_page() -> str:
    """The routes of the HTTP API, from the committed document."""
    document = json.loads((ROOT / "backend" / "openapi.json").read_text(encoding="utf-8"))
    rows: list[Sequence[object]] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            rows.append((f"`{method.upper()} {path}`", operation.get("summary", ""), operation.get("description", "")))
    return (
        "# HTTP API\n\nSchemas: [openapi.json](../../backend/openapi.json), and `/api/docs` where the server offers it."
        " Errors below `/api` are RFC 9457 problem details with a stable `code`.\n\n"
        + table(("route", "what", "details"), rows)
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "configuration": configuration_page,
    "metrics": metrics_page,
    "server-metrics": server_metrics_page,
    "aws-presets": aws_presets_page,
    "settings": settings_page,
    "signals": signals_page,
    "default-rules": default_rules_page,
    "findings": findings_page,
    "command-line": command_line_page,
    "api": api_page,
}


def main() -> int:
    """Writes all pages."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (TARGET / f"{name}.md").write_text(NOTE + page().rstrip() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
