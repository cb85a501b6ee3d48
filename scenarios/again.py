"""What today's findings say of all recordings: a server of one's own takes them in."""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from loadwatch_collectors.commands.replay import SIDE_BY_SIDE, replay_one
from loadwatch_collectors.runs.delivery import Client
from loadwatch_collectors.runs.replay import Score

from examples.rig.loadwatch import running_server
from examples.rig.processes import free_port


def score_again(archives: Sequence[Path]) -> list[Score]:
    """Scores in the order of the archives.

    Raises:
        RigError: the server did not start.
        RunsError: it did not take a recording.
    """
    with (
        tempfile.TemporaryDirectory(prefix="loadwatch-scenarios-") as folder,
        running_server(Path(folder), listen=f"127.0.0.1:{free_port()}") as loadwatch,
        ThreadPoolExecutor(SIDE_BY_SIDE) as pool,
    ):
        return list(pool.map(partial(replay_one, Client(loadwatch.url, None)), archives))
