"""Takes the README's pictures from the real demo: `make pictures`.

Two stages end, so that their run pages are there; the third is under way while the live page is filmed, forty seconds
in twenty, and taken.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

import click

from examples.demo.stages import stages_by_name
from examples.rig.application import ROOT
from examples.rig.processes import free_port

PICTURES = ROOT / "docs" / "pictures"
STAGES = ("naive", "default", "bounded")
STAGE_SECONDS = 90
FRAMES, EVERY_MS, SHOWN_MS = 40, 1_000, 500
FILM_KIBIBYTES = 2_500
"""A page that is opened waits for it."""


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=PICTURES, help="Where they go.")
def main(out: Path) -> None:
    """Play three stages of the demo and take the pictures of the README while the last one runs."""
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "examples.demo", "--stages", ",".join(STAGES)]
    with (
        tempfile.TemporaryDirectory() as data,
        subprocess.Popen(
            [*command, "--stage-seconds", str(STAGE_SECONDS), "--data", data],
            cwd=ROOT,
            env={**os.environ, "LOADWATCH_LISTEN": listen},
            stdout=subprocess.PIPE,
            text=True,
        ) as demo,
    ):
        assert demo.stdout is not None
        try:
            runs = runs_before(demo.stdout, stages_by_name()[STAGES[-1]].title)
            # What follows is read, too, or the demo would wait for its output to be.
            threading.Thread(target=demo.stdout.read, daemon=True).start()
            _film(f"http://{listen}/", out / "live.webp")
            _take(f"http://{listen}/", 1300, out, "live")
            _take(f"http://{listen}/runs/{runs[0]}", 1100, out, "run")
        finally:
            demo.send_signal(signal.SIGTERM)


def runs_before(lines: Iterable[str], title: str) -> list[str]:
    """Ids of the runs that ended before the stage `title` begins."""
    runs: list[str] = []
    for line in lines:
        click.echo(line, nl=False)
        if found := re.search(r"/runs/(\S+)", line):
            runs.append(found[1])
        if title in line:
            return runs
    raise click.ClickException("the demo ended before its last stage; its own words stand above")


def _film(url: str, out: Path) -> None:
    script = Path(__file__).with_name("take-film.mjs")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["node", str(script), url, folder, str(FRAMES), str(EVERY_MS)], check=True, timeout=300)
        frames = sorted(str(one) for one in Path(folder).glob("*.png"))
        for quality in ("60", "40", "25"):
            options = ["-loop", "0", "-lossy", "-q", quality, "-m", "6", "-d", str(SHOWN_MS)]
            subprocess.run(["img2webp", *options, *frames, "-o", str(out)], check=True, stdout=subprocess.DEVNULL)
            if out.stat().st_size <= FILM_KIBIBYTES * 1_024:
                return


def _take(url: str, height: int, out: Path, name: str) -> None:
    script = Path(__file__).with_name("take-pictures.mjs")
    subprocess.run(["node", str(script), url, str(height), str(out), name], check=True, timeout=300)


if __name__ == "__main__":
    main()
