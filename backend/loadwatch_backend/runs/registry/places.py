"""Where runs keep their files, and what is mended at the start after a server was killed.

`runs/<id>/` belongs to a run; `imports/<job>/` is work in progress, of which nothing is needed after a restart but one
thing: while a result takes the place of another, `imports/<job>/old` and `replace.json` remember the one before until
the database has the new one.
"""

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import orjson
import structlog

from loadwatch_backend.evidence.records.files import RunFiles

logger = structlog.get_logger(__name__)

JOURNAL = "replace.json"
OLD = "old"


class Places:
    def __init__(self, data: Path) -> None:
        self.data = data
        self.runs = data / "runs"
        self.imports = data / "imports"

    def files(self, run_id: str) -> RunFiles:
        return RunFiles(self.runs / run_id)

    def work(self, job: str) -> Path:
        directory = self.imports / job
        directory.mkdir(parents=True)
        return directory

    def drop(self, job: str) -> None:
        """Deletes the directory of a job, whether it succeeded or failed."""
        shutil.rmtree(self.imports / job, ignore_errors=True)

    def adopt(self, work: Path, made: Path, run_id: str, token: str) -> None:
        """Makes `made` the run's; undone by `restore`, or at the next start if the run's token is another."""
        target = self.runs / run_id
        self.runs.mkdir(parents=True, exist_ok=True)
        (work / JOURNAL).write_bytes(orjson.dumps({"run": run_id, "token": token}))
        if target.exists():
            target.rename(work / OLD)
        made.rename(target)

    def restore(self, work: Path, run_id: str) -> None:
        target = self.runs / run_id
        shutil.rmtree(target, ignore_errors=True)
        if (work / OLD).exists():
            (work / OLD).rename(target)

    def remove(self, run_id: str) -> None:
        shutil.rmtree(self.runs / run_id, ignore_errors=True)

    def mend(self, tokens: Callable[[], Collection[tuple[str, str | None]]]) -> None:
        """Finish or take back what a killed server left; `tokens` gives (id, result token) of all runs."""
        known = dict(tokens())
        for work in _directories(self.imports):
            self._mend_replacement(work, known)
            shutil.rmtree(work, ignore_errors=True)
        for directory in _directories(self.runs):
            if known.get(directory.name) is None:
                logger.warning("files without a run were removed", run=directory.name)
                shutil.rmtree(directory, ignore_errors=True)

    def _mend_replacement(self, work: Path, known: dict[str, str | None]) -> None:
        try:
            journal = orjson.loads((work / JOURNAL).read_bytes())
            run_id, token = str(journal["run"]), str(journal["token"])
        except (OSError, ValueError, KeyError, TypeError):
            return
        if known.get(run_id) == token:
            return
        logger.warning("an import that was broken off was taken back", run=run_id)
        # Without `old` the new one may not be in place yet: then what is there is still the one before.
        if (work / OLD).exists():
            self.restore(work, run_id)


def _directories(parent: Path) -> list[Path]:
    return [path for path in parent.iterdir() if path.is_dir()] if parent.exists() else []


def bytes_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) if directory.exists() else 0
