"""A service runs with fewer open files than its unit allows today: it was not restarted since that was changed."""

import numpy as np

from loadwatch_backend.findings.detectors.process.file_descriptors import HARD_LIMIT, LIMIT, UNIT_LIMIT
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import program_name, selector, together
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Table, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

USUAL_NR_OPEN = 1_048_576.0
"""fs.nr_open where nobody changed it: Linux, fs/file.c, sysctl_nr_open."""
IN_FORCE = {"soft": LIMIT, "hard": f"{LIMIT}_hard"}

KIND = Kind(
    id="limit-not-in-force",
    severity=Severity.INFO,
    title=Words("LimitNOFILE was changed and is not in force", "LimitNOFILEの変更が反映されていない"),
    explanation=Words(
        "systemd sets the limits of a service when it starts it. A LimitNOFILE that was changed since then is in the "
        "unit, and the process still has the limit that it was started with.",
        "systemdはサービスの起動時に上限を設定する。起動後にLimitNOFILEを変更しても、プロセスの上限は起動時の値のまま。",
    ),
    rule=Rule(
        text=Words(
            "What counts is the row 'Max open files' of /proc/<pid>/limits, not the unit's file and not `ulimit -n`.",
            "効くのは/proc/<pid>/limitsの「Max open files」の値。ユニットファイルや`ulimit -n`の値ではない。",
        ),
        source="systemd.exec(5), LimitNOFILE; proc_pid_limits(5)",
    ),
    refuted_by=Words(
        "A program that lowers its own limit when it starts (setrlimit).",
        "プログラムが起動時に自分で上限を下げていること(setrlimit)。",
    ),
    is_fact=True,
)


def look(window: Window) -> Look:
    """One finding for each service of which the newest reading of both sides says so."""
    findings: list[Finding] = []
    clear: list[Words] = []
    unjudged: list[Words] = []
    for labels, units in window[UNIT_LIMIT].by("job", "instance"):
        if len({one.get("unit") for one in units.labels}) != 1:
            name = program_name(window, labels)
            unjudged.append(
                Words(
                    f"{name} has processes of several units: which limit is whose cannot be told.",
                    f"{name}は複数のユニットにまたがり、どの上限が対応するか判断できない。",
                )
            )
            continue
        found = [one for bound in IN_FORCE if (one := _lower(window, dict(labels), units, bound)) is not None]
        if found:
            findings.append(_finding(window, dict(labels), units.labels[0]["unit"], *found[0]))
        else:
            name = program_name(window, labels)
            clear.append(Words(f"{name} has the limits of its unit.", f"{name}の上限はユニットの設定どおり。"))
    return Look(findings=findings, clear=together(clear), unjudged=together(unjudged))


def _lower(window: Window, labels: dict[str, str], units: Table, bound: str) -> tuple[float, float, Evidence] | None:
    """The limit in force and the unit's, where that is higher; the program's main process has the highest."""
    table = window[IN_FORCE[bound]].where(**labels)
    in_force, allowed = _newest(window, table), _newest(window, units.where(bound=bound))
    # systemd gives no service more than the kernel allows, whatever the unit says.
    kernel = window.inside(window[HARD_LIMIT].values)
    allowed = min(allowed, float(np.min(kernel[np.isfinite(kernel)], initial=USUAL_NR_OPEN)))
    if not np.isfinite(in_force + allowed) or in_force >= allowed:
        return None
    text = Words(
        f"{count(in_force)} are in force ({bound} limit), {count(allowed)} are set.",
        f"有効な値は{count(in_force)}、設定値は{count(allowed)}({bound})。",
    )
    evidence = show(
        window,
        text,
        link=Link.LIMIT,
        expression=f"{IN_FORCE[bound]}{selector(labels)}",
        unit=Unit.COUNT,
        values=table.max,
        value=in_force,
        limit=allowed,
    )
    return in_force, allowed, evidence


def _newest(window: Window, table: Table) -> float:
    """The newest value in the window; NaN where none is known, or it is no number (infinity)."""
    known = window.inside(table.max)
    known = known[np.isfinite(known)]
    return float(known[-1]) if known.size else float("nan")


def _finding(
    window: Window, labels: dict[str, str], unit: str, in_force: float, allowed: float, evidence: Evidence
) -> Finding:
    name = program_name(window, labels)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"LimitNOFILE of {unit} was changed to {count(allowed)} and is not in force: {name} may open "
            f"{count(in_force)} files until the service is restarted.",
            f"{unit}のLimitNOFILEは{count(allowed)}に変更されたが反映されていない。再起動するまで{name}が"
            f"開けるのは{count(in_force)}ファイルまで。",
        ),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=[evidence],
        steps=[
            Step(
                text=Words("Restart the service, then look at its limit.", "サービスを再起動し、上限を確認する。"),
                code=f"systemctl restart {unit}\n"
                f"grep 'Max open files' /proc/$(systemctl show -P MainPID {unit})/limits",
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(UNIT_LIMIT, LIMIT),
    reads=(IN_FORCE["hard"], HARD_LIMIT),
    usual=False,
    switched_on_by="process:\n  systemd_unit: app.service",
)
