"""`loadwatch packs check`, `test`, `new` and `from-grafana`: packs before a server reads them."""

import json
import logging
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import structlog
import urllib3
from loadwatch_formats.terminal import echo

from loadwatch_backend.alerting.rules.model import RuleKind
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.app.commands.start import settings_of
from loadwatch_backend.catalogue.packs.grafana import DashboardImport, read_dashboard, slug
from loadwatch_backend.catalogue.packs.library import FILE, Catalogue, Library, checked, shipped_documents
from loadwatch_backend.catalogue.packs.proposal import propose
from loadwatch_backend.catalogue.packs.quality import (
    LEVELS,
    Contents,
    claim_fault,
    level_of,
    never_sent,
    requirements,
    warnings,
)
from loadwatch_backend.catalogue.packs.typed_yaml import Document, Fault, FaultsError
from loadwatch_backend.catalogue.signals.model import Pack
from loadwatch_backend.findings.cases import Case, run_case
from loadwatch_backend.findings.registry import DETECTORS

MOST_PAGE = 16 * 1024**2
folder_argument = click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False, exists=True)
)


@click.group()
def packs() -> None:
    """Check, test and begin packs: what Loadwatch knows of a technology. See docs/guide/packs.md."""
    # Faults are printed; the library logs them for a server.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@packs.command()
@folder_argument
@click.option("--url", metavar="URL", help="A running server: warn of metrics that it has never seen.")
@click.option("--token-file", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="For --url.")
def check(folder: Path | None, url: str | None, token_file: Path | None) -> None:
    """Check the packs of DIR, or those that come with the program and those of LOADWATCH_PACKS.

    Every fault says file, line and column. The level of a pack is computed by the rules that are listed.
    """
    catalogue, shown = _read(folder)
    faults, remarks = list(catalogue.faults), list[Fault]()
    ids = {one.finding_id for one in catalogue.resources} | {one.kind.id for one in DETECTORS}
    kinds = {one.kind for one in catalogue.resources}
    seen = None if url is None else _metrics_of(url, token_file)
    for one in shown:
        own_faults, contents = one.contents()
        faults += own_faults
        remarks += warnings(one.pack, one.document, ids, kinds)
        if seen is not None:
            remarks += never_sent(one.pack, one.document, seen)
        found = requirements(one.pack, one.document, contents)
        if (claim := claim_fault(one.pack, one.document, found)) is not None:
            faults.append(claim)
        signals = sum(len(panel.signals) for group in one.pack.groups for panel in group.panels)
        cases = contents.rule_cases + contents.finding_cases + contents.healthy_cases
        counts = f"{signals} signals, {len(one.pack.resources)} resources, {cases} cases"
        echo(f"{one.pack.id}: level {level_of(found)}; {counts}")
        for level in LEVELS:
            rules = [each for each in found if each.level == level]
            parts = [("met", [each.text for each in rules if each.met])]
            parts += [("missing", [each.text for each in rules if not each.met])]
            echo(f"  {level:8} " + "; ".join(f"{name}: {', '.join(texts)}" for name, texts in parts if texts))
    for fault in remarks:
        echo(f"{fault.file}:{fault.line}:{fault.column}: warning: {fault.text}", err=True)
    _refuse(faults)


@packs.command()
@folder_argument
def test(folder: Path | None) -> None:
    """Run the cases of the packs of DIR, or of all packs: samples in, findings out. Rule cases are run by promtool."""
    catalogue, shown = _read(folder)
    faults = list(catalogue.faults)
    library = Library(_folders(folder))
    wrong = count = 0
    for one in shown:
        for file in one.files("cases/*.yml"):
            count += 1
            try:
                document = Document.read(file.read_bytes(), str(file))
                text = _promtool(file) if _is_rule_case(document) else _judge(document, library)
            except FaultsError as error:
                faults += error.faults
                continue
            wrong += not text.startswith("ok")
            echo(f"{file}: {text}")
    echo(f"{count} cases, {wrong} failed")
    _refuse(faults)
    if wrong:
        raise click.exceptions.Exit(1)


@packs.command()
@click.argument("name")
@click.option("--from-metrics", "url", metavar="URL", required=True, help="A page in Prometheus' text format.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Instead of NAME/pack.yml in the folder of your packs.",
)
def new(name: str, url: str, out: Path | None) -> None:
    """Propose a pack from a page of metrics: panels, and resources where it finds a limit. Read it before use."""
    catalogue, _ = _read(None)
    if any(one.id == name for one in catalogue.packs):
        raise click.ClickException(f"there is a pack {name!r}; take another name, or write `change: {name}` yourself")
    known = [one.id for one in catalogue.signals]
    try:
        text = propose(name, _fetch(url).decode(), known)
    except ValueError as error:
        raise click.ClickException(f"{url}: {error}") from error
    path = out or _folders(None)[-1] / name / FILE
    pack = _write(path, text, catalogue)
    unsure = text.count("# unsure:")
    resources = ", ".join(one.id for one in pack.resources) or "none"
    echo(f"wrote {path}: {sum(len(one.panels) for one in pack.groups)} panels; resources: {resources}")
    echo(f"{unsure} comments say what it is unsure of. Next: loadwatch packs check {path.parent}")


@packs.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--name", help="Of the pack; else made of the dashboard's title.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="In place of the folder of your packs.")
def from_grafana(file: Path, name: str | None, out: Path | None) -> None:
    """Make a pack of a Grafana dashboard (JSON): its PromQL panels, and the reason for each that is not taken."""
    catalogue, _ = _read(None)
    try:
        dashboard = read_dashboard(json.loads(file.read_bytes()))
        made = slug(str(dashboard.get("title") or file.stem), 30, "dashboard")
        name = name or (f"{made}-grafana" if made in shipped_documents() else made)
        if any(one.id == name for one in catalogue.packs):
            raise ValueError(f"there is a pack {name!r}; take another --name")
        known = [one.id for group in catalogue.groups for one in (group, *group.panels)]
        found = DashboardImport(dashboard, name, [*known, *(one.id for one in catalogue.signals)]).pack()
    except ValueError as error:
        raise click.ClickException(f"{file}: {error}") from error
    path = (out or _folders(None)[-1]) / name / FILE
    _write(path, found.text, catalogue)
    echo("\n  ".join([f"wrote {path}", *found.remarks]))
    echo(f"Next: loadwatch packs check {path.parent}")


@dataclass(frozen=True, slots=True)
class _Shown:
    pack: Pack
    document: Document

    def files(self, pattern: str) -> list[Path]:
        return sorted(one for file in self.document.files for one in Path(file).parent.glob(pattern))

    def contents(self) -> tuple[list[Fault], Contents]:
        faults: list[Fault] = []
        alerts: list[str] = []
        for file in self.files("rules.yml"):
            read = read_rules(file.read_bytes(), str(file), 1_000)
            faults += read.all_faults
            rules = [rule for group in read.groups for rule in group.rules]
            alerts += [rule.name for rule in rules if rule.kind is RuleKind.ALERTING]
        kinds: list[str] = []
        for file in self.files("cases/*.yml"):
            try:
                document = Document.read(file.read_bytes(), str(file))
                case = None if _is_rule_case(document) else document.load(Case)
                healthy = case is not None and not (case.expect or case.cannot_tell)
                kinds.append("rule" if case is None else "healthy" if healthy else "finding")
            except FaultsError as error:
                faults += error.faults
        return faults, Contents(
            alerts=alerts,
            runbooks=[one.name for one in self.files("runbooks/*.md")],
            rule_cases=kinds.count("rule"),
            finding_cases=kinds.count("finding"),
            healthy_cases=kinds.count("healthy"),
        )


def _folders(folder: Path | None) -> Sequence[Path]:
    if folder is not None:
        return [folder]
    settings = settings_of()
    return settings.packs or [settings.data / "packs"]


def _write(path: Path, text: str, catalogue: Catalogue) -> Pack:
    try:
        pack = checked(Document.read(text.encode(), str(path)), catalogue.packs)
    except FaultsError as error:
        raise click.ClickException(str(error)) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.ClickException(f"{path} exists already; nothing was written") from None
    return pack


def _read(folder: Path | None) -> tuple[Catalogue, list[_Shown]]:
    _refuse(list(_shipped_faults()))
    catalogue = Library(_folders(folder)).current()
    shown = [_Shown(one, catalogue.documents[one.id]) for one in catalogue.packs]
    if folder is None:
        return catalogue, shown
    return catalogue, [one for one in shown if any(folder in Path(file).parents for file in one.document.files)]


def _shipped_faults() -> Iterator[Fault]:
    good: list[Pack] = []
    for document in shipped_documents().values():
        try:
            good.append(checked(document, good))
        except FaultsError as error:
            yield from error.faults


def _refuse(faults: Sequence[Fault]) -> None:
    for fault in sorted(faults):
        echo(fault, err=True)
    if faults:
        raise click.ClickException(f"{len(faults)} fault{'' if len(faults) == 1 else 's'}")


def _is_rule_case(document: Document) -> bool:
    return "tests" in document.data


def _judge(document: Document, library: Library) -> str:
    """What is said of a finding case; begins with ok where that is what it expects."""
    case = document.load(Case)
    found, reasons = run_case(case, library)
    if not reasons:
        return f"ok: found {', '.join(one.id for one in found) or 'nothing'}"
    said = [f"{one.id} ({one.certainty.value}): {one.sentence.en}" for one in found] or ["nothing"]
    lines = [*(f"expected: {one}" for one in reasons), *(f"found: {one}" for one in said)]
    return "\n  ".join(["FAILED", *lines])


def _promtool(file: Path) -> str:
    promtool = shutil.which("promtool")
    if promtool is None:
        return "NOT RUN: rule cases need promtool on PATH; it comes with Prometheus"
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    return "ok by promtool" if done.returncode == 0 else f"FAILED\n{done.stdout}{done.stderr}".rstrip()


def _metrics_of(url: str, token_file: Path | None) -> set[str]:
    headers = {} if token_file is None else {"Authorization": f"Bearer {token_file.read_text().strip()}"}
    page = _fetch(f"{url.rstrip('/')}/prometheus/api/v1/label/__name__/values", headers)
    try:
        answer: Any = json.loads(page)
        return set(answer["data"])
    except (ValueError, KeyError, TypeError):
        raise click.ClickException(f"{url} does not answer as a Loadwatch server does") from None


def _fetch(url: str, headers: dict[str, str] | None = None) -> bytes:
    try:
        with urllib3.PoolManager(retries=False, timeout=30.0) as http:
            answer = http.request("GET", url, headers=headers or {}, preload_content=False)
            page = answer.read(MOST_PAGE + 1)
    except urllib3.exceptions.HTTPError as error:
        raise click.ClickException(f"{url} cannot be read: {error}") from error
    if answer.status != 200 or len(page) > MOST_PAGE:
        reason = f"the answer is {answer.status}" if answer.status != 200 else "the page has more than 16 MiB"
        raise click.ClickException(f"{url} cannot be read: {reason}")
    return page
