"""A report as Markdown, for a pull request, a wiki or a chat."""

import re
from collections.abc import Iterable, Sequence

from loadwatch_formats.numbers import format_change, format_duration, format_value

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.runs.report.findings import (
    Answer,
    ReportedFinding,
    answer_of,
    elapsed_text,
    format_setting,
    generator_text,
    verdict_reasons,
)
from loadwatch_backend.runs.report.html import (
    ENDPOINTS_SHOWN,
    RESOURCES_SHOWN,
    ActionLine,
    action_lines,
    format_time,
    shown_figures,
    written,
)
from loadwatch_backend.runs.report.model import (
    COUNTED,
    FIRST,
    Report,
    ReportedCost,
    SummaryRow,
    file_rows,
    log_rows,
    mixed_key,
    report_cost,
    shares_of_endpoints,
    summary_rows,
)


def render_markdown(report: Report, language: Language) -> str:
    """The whole document; GitHub's tables."""
    texts = Texts("report", language)
    parts = [
        _head(report, texts),
        _figures(report, texts),
        _remarks(report, texts),
        _limits(report, texts),
        _thresholds(report, texts),
        _generator(report, texts),
        _findings(answer_of(report.run, language), Texts("findings", language)),
        _why(report_cost(report.cost, report.routes, report.statements, language), texts),
        _summary(report, texts),
        _repeats(report, texts),
        _failures(report, texts),
        _reconciliation(report, texts),
        _endpoints(report, texts),
        *(f"## {texts(key)}\n\n{texts('part_failed')}" for key in report.failed),
        _kept(report, texts),
        _configuration(report, texts),
        _notes(report, texts),
        _review(report, texts),
        _actions(action_lines(report.review, language)),
        texts("made", version=VERSION, time=format_time(report.made_ms), id=report.run.id),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_SIGNS = str.maketrans({sign: "\\" + sign for sign in "\\|*_`<>[]&~$"})
_BEGINNING = re.compile(r"(\d*)([-+=#.):])")
"""Signs that make a heading, a list or a rule of a line that begins with them, or with a number before them."""


def escape_cell(text: str) -> str:
    """Text on one line that breaks no table and starts no markup, links that GitHub makes of addresses included."""
    flat = " ".join(text.split()).translate(_SIGNS).replace("://", "\\://").replace("www.", "www\\.")
    return _BEGINNING.sub(r"\1\\\2", flat, count=1) if _BEGINNING.match(flat) else flat


def escape_text(text: str) -> str:
    """Text of several lines that stays what was written: its lines and paragraphs, and no markup."""
    paragraphs = re.split(r"\n\s*\n", text.strip().replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join("\\\n".join(escape_cell(line) for line in one.splitlines()) for one in paragraphs)


def make_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; all columns but the first are set to the right."""
    lines = [
        "| " + " | ".join(heads) + " |",
        "| --- |" + " ---: |" * (len(heads) - 1),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    return "\n".join(lines)


def _head(report: Report, texts: Texts) -> str:
    run = report.run
    verdict = texts(run.verdict.value if run.verdict is not None else "none")
    facts = [
        (texts("scenario"), f"{run.scenario} {run.scenario_version}".strip()),
        (texts("tool"), run.tool),
        (texts("started"), format_time(run.started_ms)),
        (texts("duration"), format_duration((run.ended_ms - run.started_ms) / 1_000) if run.ended_ms else ""),
        (texts("target"), format_value(run.target_rate, "per_second") if run.target_rate else ""),
        (texts("commit"), run.commit + (f" ({texts('dirty')})" if run.dirty else "") if run.commit else ""),
        (texts("parameters"), ", ".join(f"{key}={value}" for key, value in run.parameters.items())),
    ]
    lines = [f"- {name}: {escape_cell(value)}" for name, value in facts if value]
    why = "; ".join(escape_cell(reason) for reason in verdict_reasons(run, texts.language))
    told = f"**{texts(f'why_{run.verdict}')}:** {why}\n\n" if why and run.verdict is not None else ""
    answer = answer_of(run, texts.language)
    found = "" if answer is None else f"{escape_cell(answer.headline)}\n\n"
    return f"# {escape_cell(run.name or run.id)}\n\n**{verdict}** · {run.id}\n\n{found}{told}" + "\n".join(lines)


def _generator(report: Report, texts: Texts) -> str:
    check = report.run.generator
    return "" if check is None else f"## {texts('generator')}\n\n{escape_cell(generator_text(check, texts.language))}"


def _thresholds(report: Report, texts: Texts) -> str:
    if not report.run.thresholds:
        return ""
    rows = [
        [
            escape_cell(one.expression),
            format_value(one.actual, one.unit),
            escape_cell(texts.known(one.window, one.window)),
            texts(one.state),
        ]
        for one in report.run.thresholds
    ]
    heads = [texts("threshold"), texts("measured"), texts("window"), texts("result")]
    return f"## {texts('thresholds')}\n\n{make_table(heads, rows)}"


def _figures(report: Report, texts: Texts) -> str:
    rows = [
        [
            one.name,
            one.value,
            one.window,
            f"{escape_cell(one.threshold)}: {texts(one.state)}" if one.state else "",
            escape_cell(" · ".join(one.notes)),
        ]
        for one in shown_figures(report.run, texts.language)
    ]
    return make_table([texts("figure"), texts("measured"), texts("window"), texts("threshold"), ""], rows)


def _summary(report: Report, texts: Texts) -> str:
    rows = summary_rows(report.run, report.baseline)
    if not rows:
        return ""
    first = _summary_table(report, [row for row in rows if row.key in FIRST], texts)
    others = [row for row in rows if row.key not in FIRST]
    folded = f"<details><summary>{texts('all_figures')}</summary>\n\n{{}}\n\n</details>\n\n" if others else "{}"
    rest = folded.format(_summary_table(report, others, texts) if others else "")
    return f"## {texts('summary')}\n\n{first}\n\n{rest}{texts('percentiles')}"


def _summary_table(report: Report, rows: Sequence[SummaryRow], texts: Texts) -> str:
    heads = [texts("figure"), texts("steady_window"), texts("whole_run")]
    heads += [texts("baseline"), "Δ"] if report.baseline else []
    cells: list[list[str]] = []
    for row in rows:
        cell = [texts(row.key), format_value(row.steady, row.unit), format_value(row.whole, row.unit)]
        cell += [format_value(row.baseline, row.unit), format_change(row.change)] if report.baseline else []
        cells.append(cell)
    return make_table(heads, cells)


def _repeats(report: Report, texts: Texts) -> str:
    rows = [[one.metric.title, f"±{format_value(one.scatter, 'ratio')}", str(one.runs)] for one in report.repeats]
    heads = [texts("figure"), texts("repeats_scatter"), texts("repeats_runs")]
    return f"## {texts('repeats')}\n\n{make_table(heads, rows)}" if rows else ""


def _findings(answer: Answer | None, texts: Texts) -> str:
    if answer is None:
        return ""
    parts = [f"## {texts('title')}", *(_finding(place, one, texts) for place, one in enumerate(answer.findings, 1))]
    if not answer.findings:
        parts.append(escape_cell(answer.headline))
    parts += [f"{texts('observations')}: {escape_cell(text)}" for text in answer.observations]
    return "\n\n".join(parts)


def _finding(place: int, one: ReportedFinding, texts: Texts) -> str:
    number = f"{place}. "
    within = " " * len(number)
    lines = [f"{number}**{escape_cell(one.sentence)}**", f"{within}{escape_cell(' · '.join(one.facts))}"]
    lines += [f"{within}- {escape_cell(link)}: {escape_cell(text)}" for link, text, _ in one.evidence]
    for text, code in one.steps:
        lines.append(f"{within}- {escape_cell(texts('steps'))}: {escape_cell(text)}")
        # A block of code by its indent: within the item of the item, and four more.
        lines += ["", *(f"{within}      {line}" for line in code.splitlines()), ""] if code else []
    return "\n".join(lines).rstrip()


def _why(told: ReportedCost | None, texts: Texts) -> str:
    if told is None:
        return ""
    rows = [
        [
            f"↳ {escape_cell(one.name)}{' **N+1**' if one.repeated else ''}"
            if one.asked
            else f"**{escape_cell(one.name)}**",
            one.share,
            f"{one.calls} **N+1**" if one.repeated else one.calls,
            one.database,
            one.change,
            *map(escape_cell, one.counted),
        ]
        for one in told.rows
    ]
    heads = [texts(f"why_{key}") for key in ("route", "share", "calls", "database", "change", *COUNTED)]
    lead = [f"**{escape_text(told.lead)}**"] if told.lead else []
    tables = [make_table(heads, rows)] if rows else []
    if told.statements:
        tables.append(
            make_table(
                [texts("why_statement"), *(texts(f"why_{key}") for key in told.statement_heads)],
                [[escape_cell(one.name), *one.cells] for one in told.statements],
            )
        )
    if told.functions:
        keys = ("function", "own", "called")
        tables.append(
            make_table(
                [*(texts(f"why_{key}") for key in keys), told.each, texts("why_change")],
                [
                    [
                        " – ".join(escape_cell(text) for text in (one.name, one.words) if text),
                        one.own,
                        one.called,
                        one.each,
                        one.change,
                    ]
                    for one in told.functions
                ],
            )
        )
    notes = [escape_text(one) for one in told.notes]
    return "\n\n".join([f"## {texts('why')} ({told.window})", *lead, *tables, *notes])


def _kept(report: Report, texts: Texts) -> str:
    log, files = log_rows(report.log, texts.language), file_rows(report.files, report.attached, texts.language)
    parts: list[str] = []
    if log:
        heads = [texts("log_trend"), texts("log_level"), texts("count"), texts("log_before"), texts("log_pattern")]
        rows = [[one.trend, one.level, one.count, one.before, escape_cell(one.pattern)] for one in log]
        parts.append(f"## {texts('log')}\n\n{make_table(heads, rows)}")
    if files:
        heads = [texts("file_name"), texts("file_kind"), texts("file_size")]
        rows = [[escape_cell(one.name), one.kind, one.size] for one in files]
        kept = [
            f"### {escape_cell(one.name)}\n\n{_fenced(one.shown.text)}"
            for one in files
            if one.shown is not None and one.shown.text is not None
        ]
        parts += [f"## {texts('files')}\n\n{make_table(heads, rows)}\n\n{texts('files_note')}", *kept]
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    """The text as a block of code, whatever it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _limits(report: Report, texts: Texts) -> str:
    limits = report.run.resources[:RESOURCES_SHOWN]
    if not limits:
        return f"## {texts('highest_use')}\n\n{texts('nothing_ran_out')}"

    def elapsed(at_ms: int | None) -> str:
        return "" if at_ms is None else elapsed_text(max(at_ms - report.run.started_ms, 0) / 1_000)

    rows = [
        [
            ("" if one.place is None else f"{one.place}\\. ")
            + escape_cell(f"{one.title_ja if texts.language == 'ja' else one.title} {one.name}"),
            format_value(one.used_max, one.unit),
            format_value(one.limit, one.unit),
            format_value(one.ratio_max, "ratio"),
            elapsed(one.first_full_ms),
            elapsed(one.at_ms),
        ]
        for one in limits
    ]
    heads = [texts("resource"), texts("used"), texts("limit"), "%", texts("full_from"), texts("highest_at")]
    return f"## {texts('highest_use')}\n\n{make_table(heads, rows)}"


def _failures(report: Report, texts: Texts) -> str:
    run = report.run
    if not run.requests:
        return ""
    rows = [
        [
            escape_cell(texts.known(name, name)),
            format_value(count, "count"),
            format_value(count / run.requests, "ratio"),
        ]
        for name, count in run.outcomes.items()
        if count
    ]
    return f"## {texts('outcomes')}\n\n{make_table([texts('outcome'), texts('count'), texts('share')], rows)}"


def _endpoints(report: Report, texts: Texts) -> str:
    found = report.run.endpoints
    if not found:
        return ""
    shares = shares_of_endpoints(report.run)
    before = shares_of_endpoints(report.baseline)
    rows = [
        [
            escape_cell(one.name),
            format_value(one.requests, "count"),
            format_value(shares.get(one.name), "ratio"),
            *([format_value(before.get(one.name, 0.0), "ratio")] if before else []),
            format_value(one.success_ratio, "ratio"),
            format_value(one.latency_seconds.p50, "seconds"),
            format_value(one.latency_seconds.p95, "seconds"),
            format_value(one.latency_seconds.p99, "seconds"),
        ]
        for one in found[:ENDPOINTS_SHOWN]
    ]
    mix = [texts("share"), *([texts("share_before")] if before else [])]
    heads = [texts("endpoint"), texts("requests"), *mix, texts("success"), "p50", "p95", "p99"]
    more = len(found) - ENDPOINTS_SHOWN
    rest = f"\n\n{texts('more_endpoints', count=more)}" if more > 0 else ""
    window = texts.known(report.run.endpoints_window, report.run.endpoints_window)
    return f"## {texts('endpoints')} ({window})\n\n{make_table(heads, rows)}{rest}"


def _reconciliation(report: Report, texts: Texts) -> str:
    found = report.run.reconciliation
    if found is None:
        return ""
    rows = [
        [
            escape_cell(texts.known(step.id, step.id)),
            format_value(step.count, "count"),
            format_value(step.missing, "count"),
        ]
        for step in found.steps
    ]
    place = escape_cell(texts.known(f"place_{found.place}", found.detail))
    heads = [texts("step"), texts("count"), texts("missing")]
    mixed = mixed_key(found.mixed_with)
    told = f"{place}\n\n{texts(mixed)}" if mixed else place
    heads_by_instance = [texts(key) for key in ("instance", "accepted_short", "stored_short", "not_stored")]
    by_instance = [
        [
            escape_cell(one.instance),
            *(format_value(value, "count") for value in (one.accepted, one.stored, one.missing)),
        ]
        for one in found.instances
    ]
    each = f"\n\n{make_table(heads_by_instance, by_instance)}" if by_instance else ""
    return f"## {texts('reconciliation')}\n\n{make_table(heads, rows)}\n\n{told}{each}"


def _notes(report: Report, texts: Texts) -> str:
    """What was noted in the run's time, with the change behind it."""
    lines = [
        " · ".join(
            [
                f"- **{elapsed_text((note.start_ms - report.run.started_ms) / 1_000)}** {escape_cell(note.text)}",
                escape_cell(note.author),
                *([f"{texts('commit')} {escape_cell(note.commit)}"] if note.commit else []),
                *([f"{texts('issue')} {escape_cell(note.issue)}"] if note.issue else []),
            ]
        )
        for note in report.notes
    ]
    return f"## {texts('annotations')}\n\n" + "\n".join(lines) if lines else ""


def _configuration(report: Report, texts: Texts) -> str:
    found = report.difference
    if found is None or not found.changes:
        return ""
    rows = [
        [
            escape_cell(f"{one.key} ({one.target})"),
            escape_cell(format_setting(one.before, one.unit)),
            escape_cell(format_setting(one.after, one.unit)),
        ]
        for one in found.changes
    ]
    heads = [texts("setting"), texts("before"), texts("after")]
    return f"## {texts('configuration', base=escape_cell(found.base))}\n\n{make_table(heads, rows)}"


def _review(report: Report, texts: Texts) -> str:
    parts = [f"### {texts(key)}\n\n{escape_text(text)}" for key, text in written(report.review)]
    if report.review.measured:
        rows = [
            [
                escape_cell(one.expression),
                format_value(one.actual, one.unit),
                texts("watched" if one.expected is None else one.state),
            ]
            for one in report.review.measured
        ]
        parts.append(make_table([texts("expected"), texts("measured"), texts("result")], rows))
    return f"## {texts('review')}\n\n" + "\n\n".join(parts) if parts else ""


def _actions(told: Sequence[tuple[str, Sequence[ActionLine]]]) -> str:
    return "\n\n".join(f"## {title}\n\n" + "\n".join(_action(one) for one in actions) for title, actions in told)


def _action(one: ActionLine) -> str:
    expected = f" ({escape_cell(one.expected)})" if one.expected else ""
    score = f"\n  - **{one.score}** {escape_cell(' · '.join(one.words))}" if one.score else ""
    return f"- {escape_cell(one.text)}{expected}: {escape_cell(' · '.join(one.facts))}{score}"


def _remarks(report: Report, texts: Texts) -> str:
    lines = [f"- {escape_cell(one.text)}" for one in report.run.remarks]
    return f"## {texts('remarks')}\n\n" + "\n".join(lines) if lines else ""
