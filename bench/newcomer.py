"""A newcomer's system, watched by what the guide says: are three usual problems named? `python -m bench newcomer`.

nginx before two Flask applications (gunicorn, SQLAlchemy), PostgreSQL and Redis; 35 minutes for 10 rounds.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import urllib3
from urllib3.util import Retry

from bench.machine import describe_machine, write_result
from collectors.tests.postgresql import own_postgresql
from collectors.tests.redis_server import RedisServer, own_redis
from examples.rig.loadwatch import running_server
from examples.rig.processes import ManagedProcess, RigError
from scenarios.live import wilson
from tests.ports import free_port
from tests.serving import LOADWATCH

SHOP = Path(__file__).resolve().with_name("newcomer_shop")
SNIPPET = SHOP.parents[1] / "examples" / "pools"
PACKAGES = ("flask", "gunicorn", "sqlalchemy", "psycopg[binary]", "redis", "prometheus-client")
Watched = Literal["connect", "log", "host"]
"""By the lines of `loadwatch connect`; PostgreSQL's log besides; the host and its sockets alone."""


Rig = tuple[str, RedisServer, str]
"""The address of nginx, Redis, and the lines of loadwatch.yml."""


class Case(NamedTuple):
    """A problem, its load, and what must be said: the finding, or the pack that is not watched (`unwatched`)."""

    name: str
    clients: int
    path: str = "/"
    finding: str = ""
    unwatched: str = ""


HEALTHY = Case("healthy", 3)
POOL = Case("pool of 5 each, 60 clients", 60, finding="pool-exhausted", unwatched="pool")
FULL = Case("max_connections=30, pools of 20", 60, "/", "database-connections-exhausted", "postgresql")
HELD = Case("Redis held for 5 s", 30, "/cached", "redis-main-thread-exhausted", "redis")
RIGS: Sequence[tuple[int, int, Watched, Sequence[Case]]] = (
    (5, 100, "connect", (POOL, HELD, HEALTHY)),
    (20, 30, "connect", (FULL,)),
    (20, 30, "log", (FULL,)),
    (20, 30, "host", (FULL,)),
    (5, 100, "host", (POOL, HELD)),
)
"""Pool of each application, max_connections, what is watched, and the cases that are played there."""


def main() -> int:
    """Plays all cases; writes the result after each, so that an ended bench leaves what it has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10, help="Of each case.")
    turns = parser.parse_args().rounds
    listen = f"127.0.0.1:{free_port()}"
    os.environ.update(LOADWATCH_LISTEN=listen, LOADWATCH_SERVER=f"http://{listen}")
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="loadwatch-newcomer-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            versions = _install(folder / "venv")
        except subprocess.CalledProcessError as error:
            print(f"skipped: pip cannot install {', '.join(PACKAGES)}: {error.stderr.strip().splitlines()[-1]}")
            return 0
        config = ""
        for number, (pool, slots, watched, cases) in enumerate(RIGS):
            with _running(folder / str(number), folder / "venv", pool, slots, watched) as (url, redis, lines):
                config = config or lines
                for case in cases:
                    for _ in range(turns):
                        load = round(os.getloadavg()[0], 1)
                        said = _judge(_play(url, redis, case, folder / "runs"), case, watched)
                        rounds.append({**said, "load_average": load})
                        print(rounds[-1], flush=True)
                    _write(rounds, config, versions)
    return 0


def _install(venv: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "python", "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", *PACKAGES], check=True, capture_output=True, text=True)
    listed = json.loads(subprocess.run([*pip, "list", "--format=json"], check=True, capture_output=True).stdout)
    wanted = {name.partition("[")[0].replace("-", "_") for name in PACKAGES}
    versions = [f"{one['name']} {one['version']}" for one in listed if one["name"].lower().replace("-", "_") in wanted]
    for name, *command in (("nginx", "/usr/sbin/nginx", "-v"), ("Redis", "redis-server", "-v"), ("psql", "psql", "-V")):
        told = subprocess.run(command, check=True, capture_output=True, text=True)
        versions += [f"{name} {found}" for found in re.findall(r"\d+\.\d[\d.]*", told.stdout + told.stderr)[:1]]
    return ", ".join(versions)


@contextmanager
def _running(folder: Path, venv: Path, pool: int, slots: int, watched: Watched) -> Generator[Rig]:
    folder.mkdir(mode=0o755)
    ports = [free_port() for _ in range(3)]
    names = dict(zip(("front", "first", "second"), ports, strict=True))
    (folder / "nginx.conf").write_text(_shop("nginx.conf") % {"folder": folder, **names}, encoding="utf-8")
    with ExitStack() as stack:
        database = stack.enter_context(own_postgresql(f"max_connections={slots}"))
        redis = stack.enter_context(own_redis())
        database.run(_shop("accounts.sql"))
        environment = {
            "DATABASE": f"postgresql+psycopg://shop@127.0.0.1:{database.port}/postgres",
            "REDIS": f"redis://127.0.0.1:{redis.port}",
            "POOL": str(pool),
            "PYTHONPATH": str(SNIPPET),
        }
        gunicorn = [venv / "bin" / "gunicorn", "--chdir", SHOP, "-w1", "--threads=40", "shop:app", "-b"]
        commands: list[list[str | Path]] = [[*gunicorn, f"127.0.0.1:{port}"] for port in ports[1:]]
        for command in (*commands, ["/usr/sbin/nginx", "-c", folder / "nginx.conf"]):
            stack.enter_context(ManagedProcess("shop", command, log=folder / "shop.log", environment=environment))
        for port in ports:
            urllib3.request("GET", f"http://127.0.0.1:{port}/cached", retries=Retry(11, backoff_factor=0.1))
        server = stack.enter_context(running_server(folder, listen=os.environ["LOADWATCH_LISTEN"]))
        command = [LOADWATCH, "agent", "--spool", folder / "spool", "--server", server.url]
        config = ""
        if watched != "host":
            (folder / f"postgresql-{database.port}.password").write_text("a long password\n", encoding="utf-8")
            log = database.folder / "log" if watched == "log" else None
            config = _connect(folder / "loadwatch.yml", server.url, [*ports, database.port, redis.port], log)
            command += ["--config", folder / "loadwatch.yml"]
        stack.enter_context(ManagedProcess("agent", command, log=folder / "agent.log"))
        time.sleep(6)
        yield f"http://127.0.0.1:{ports[0]}", redis, config


def _shop(name: str) -> str:
    return (SHOP / name).read_text(encoding="utf-8")


def _connect(path: Path, server: str, ports: Iterable[int], log: Path | None) -> str:
    """Watch the ports by `loadwatch connect`; returns the lines of loadwatch.yml without comments."""
    for port in ports:
        _loadwatch("connect", str(port), f"--config={path}", "--write", f"--server={server}")
    text = path.read_text(encoding="utf-8")
    if log is not None:
        text = text.replace("job: postgresql\n", f"job: postgresql\n    log_patterns: {{path: {log}}}\n")
        path.write_text(text, encoding="utf-8")
    _loadwatch("check", f"--config={path}")
    text = text.replace(str(path.parent), "/etc/loadwatch")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) > 25:
        raise RigError(f"loadwatch.yml has {len(lines)} lines:\n{text}")
    return "\n".join(lines)


def _loadwatch(*words: str) -> str:
    done = subprocess.run([LOADWATCH, *words], check=False, capture_output=True, text=True, cwd="/")
    if done.returncode:
        raise RigError(f"loadwatch {words[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def _play(url: str, redis: RedisServer, case: Case, state: Path) -> dict[str, Any]:
    hold = threading.Timer(5, lambda: redis.client(socket_timeout=60).eval(_shop("hold.lua"), 0))
    if case is HELD:
        hold.start()
    options = [f"--name={case.name}", f"--scenario={case.name}", f"--state-directory={state}", "--wait=120"]
    output = _loadwatch("run", *options, "--", "hey", "-z", "15s", "-c", str(case.clients), url + case.path)
    found = re.search(r"/runs/(\d{8}-\S+)", output)
    if found is None:
        raise RigError(f"the run did not arrive:\n{output}")
    return urllib3.request("GET", f"{os.environ['LOADWATCH_SERVER']}/api/runs/{found[1]}").json()


def _judge(document: dict[str, Any], case: Case, watched: Watched) -> dict[str, Any]:
    diagnosis: dict[str, Any] = document["diagnosis"]
    accusing = [one for one in document["findings"] if one["severity"] in ("critical", "warning")]
    accused = [str(one["id"]) for one in accusing]
    state, text = str(diagnosis["state"]), str(diagnosis["headline"]["text"]["en"])
    right = accused[:1] == ([case.finding] if case.finding else [])
    if watched == "host":
        named = [one["title"]["en"] for one in diagnosis["missing"] if one["id"] == case.unwatched]
        right = state == "cannot-tell" and any(title in text for title in named)
    said = {"case": case.name, "watched": watched, "state": state, "accused": accused, "text": text}
    certainty, symptoms = [one["certainty"] for one in accusing[:1]], [one["en"] for one in diagnosis["symptoms"]]
    return {**said, "right": right, "certainty": certainty, "symptoms": symptoms}


def _write(rounds: Sequence[dict[str, Any]], config: str, versions: str) -> None:
    loads = [one["load_average"] for one in rounds]
    text = f"""`python -m bench newcomer`: nginx before two Flask applications (gunicorn with one worker of 40 threads,
SQLAlchemy with [the snippet](../../examples/pools/sqlalchemy_pool.py)), PostgreSQL and Redis; a round is one
`loadwatch run -- hey -z 15s`. {versions}. Other work ran on the machine: load average {min(loads)} to {max(loads)}
before a round. Intervals are Wilson's, 95 %. Scored is what was said when `loadwatch run` ended. Right is the expected
finding first; of healthy rounds, nothing accused (critical or warning). An all-clear is the state `none`.

Watched by the {len(config.splitlines())} lines below, which `loadwatch connect PORT --write` wrote:

{_table(rounds, "connect")}

With one line more, [`log_patterns`](../../docs/guide/agent.md#log_patterns) of PostgreSQL's log:

{_table(rounds, "log")}

Only the host and its sockets watched. Right is "cannot tell" with the name of what is not watched. Rounds without a
symptom have nothing to explain, and do not count:

{_table(rounds, "host")}

```yaml
{config}
```
"""
    result = {"machine": describe_machine(), "versions": versions, "rounds": list(rounds)}
    write_result("newcomer", "A newcomer's system", text, result)


def _table(rounds: Sequence[dict[str, Any]], watched: Watched) -> str:
    columns = "case, rounds, without a symptom, right, interval, certainty, accused besides, all-clears, other answers"
    lines = ["| " + columns.replace(", ", " | ") + " |", "| --- " * 9 + "|"]
    for name in dict.fromkeys(one["case"] for one in rounds if one["watched"] == watched):
        played = [one for one in rounds if (one["case"], one["watched"]) == (name, watched)]
        counted = [one for one in played if watched != "host" or one["symptoms"] or one["accused"]]
        right = [one for one in counted if one["right"]]
        low, high = wilson(len(right), len(counted))
        besides = _counts(id for one in right for id in {*one["accused"][1:]} - {*one["accused"][:1]})
        other = _counts(", ".join(one["accused"]) or one["state"] for one in counted if not one["right"])
        lines.append(
            f"| {name} | {len(played)} | {sum(not one['symptoms'] for one in played)} | {len(right)} of {len(counted)}"
            f" | {low:.0%} to {high:.0%} | {_counts(word for one in right for word in one['certainty'])}"
            f" | {besides} | {sum(one['state'] == 'none' for one in played)} | {other} |"
        )
    return "\n".join(lines)


def _counts(words: Iterable[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in Counter(words).most_common())


if __name__ == "__main__":
    sys.exit(main())
