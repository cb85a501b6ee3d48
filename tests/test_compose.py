"""docker-compose.yml and the Dockerfiles, as far as they can be proved without a container engine."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import httpx
import jsonschema
import pytest
import yaml
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.token_file import hash_token, match_token, parse_tokens
from loadwatch_backend.core.settings import known_variables
from loadwatch_collectors.config import load_config
from loadwatch_collectors.settings_loader import read_document
from loadwatch_collectors.sources.registry import sources_by_name

from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILES = sorted((ROOT / "deploy").glob("Dockerfile.*"))


def compose() -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load(COMPOSE.read_text(encoding="utf-8")))


def services() -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", compose()["services"])


EXACT_IMAGE = re.compile(r":\d+\.\d+(\.\d+)?(-\w+)?$|@sha256:[0-9a-f]{64}$")
"""An image by its full version, or by its digest."""


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments, continued lines joined."""
    lines = [line for line in dockerfile.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [(pair[0], pair[1]) for pair in pairs]


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = {name for line in re.findall(r"^\.PHONY:(.*)$", text, re.MULTILINE) for name in line.split()}
    rules = {name for line in re.findall(r"^([A-Za-z][\w -]*):(?!=)", text, re.MULTILINE) for name in line.split()}
    return phony & rules


def dependencies(service: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", service.get("depends_on", {}))


def dockerfile_of(service: dict[str, Any]) -> Path | None:
    build = service.get("build")
    return ROOT / build["dockerfile"] if build else None


def test_the_file_follows_the_compose_specification() -> None:
    schema = json.loads((ROOT / "tests" / "compose-spec.json").read_text(encoding="utf-8"))
    validator = cast("Any", jsonschema.Draft202012Validator(schema))
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(compose())]
    assert errors == []
    assert list(validator.iter_errors({"services": {"x": {"imagine": "y"}}}))


def test_the_whole_system_is_there() -> None:
    assert set(services()) == {
        *("credentials", "server", "agent", "mysql", "measuring-server", "proxy", "load", "receiver"),
    }


def test_every_service_that_is_named_exists() -> None:
    known = services()
    for name, service in known.items():
        named = list(dependencies(service))
        for key in ("network_mode", "pid"):
            if str(service.get(key, "")).startswith("service:"):
                named.append(service[key].removeprefix("service:"))
        assert set(named) <= set(known), name


def test_who_waits_for_health_waits_for_a_service_that_tells_it() -> None:
    for name, service in services().items():
        for dependency, condition in dependencies(service).items():
            if condition.get("condition") == "service_healthy":
                other = services()[dependency]
                dockerfile = dockerfile_of(other)
                in_image = dockerfile is not None and any(word == "HEALTHCHECK" for word, _ in instructions(dockerfile))
                assert "healthcheck" in other or in_image, f"{name} waits for {dependency}"


def test_every_file_and_volume_that_is_mounted_exists() -> None:
    volumes = compose()["volumes"]
    for name, service in services().items():
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            if source.startswith("."):
                assert (ROOT / source).exists(), f"{name}: {source}"
            else:
                assert source in volumes, f"{name}: {source}"


def test_every_service_has_limits_and_takes_no_new_privileges() -> None:
    for name, service in services().items():
        limits = service["deploy"]["resources"]["limits"]
        assert limits["cpus"], name
        assert limits["memory"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged"), name


def test_ports_are_published_on_loopback_only() -> None:
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_the_server_is_configured_with_settings_that_it_has() -> None:
    environment: dict[str, str] = services()["server"]["environment"]
    assert set(environment) <= known_variables()
    # Without it the server refuses to listen on 0.0.0.0.
    assert environment["LOADWATCH_TOKEN_FILE"]


def test_the_measuring_server_gets_flags_that_it_has() -> None:
    source = (ROOT / "examples" / "measuring-server" / "settings.go").read_text(encoding="utf-8")
    known = set(re.findall(r'flags\.\w+Var\(&[\w.]+, "([a-z-]+)"', source))
    given = {flag.lstrip("-").split("=")[0] for flag in services()["measuring-server"]["command"]}
    assert given
    assert given <= known


def create_credentials(folder: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([ROOT / "deploy" / "create-credentials.sh", folder], env=environment, check=True, timeout=120)


def test_the_agents_configuration_is_accepted_and_uses_the_credentials_that_are_made(tmp_path: Path) -> None:
    config = load_config(read_document(ROOT / "deploy" / "loadwatch.yml"), sources_by_name())
    assert {collector.source.name for collector in config.collectors} >= {
        *("dbstats", "mysql", "mysql_statements", "access_log", "probe", "freshness"),
    }
    mounts = [mount.split(":")[1] for mount in services()["credentials"]["volumes"]]
    folders = [folder for folder in mounts if folder.startswith("/credentials/")]
    for folder in folders:
        (tmp_path / folder.removeprefix("/credentials/")).mkdir()
    create_credentials(tmp_path)
    text = (ROOT / "deploy" / "loadwatch.yml").read_text(encoding="utf-8") + COMPOSE.read_text(encoding="utf-8")
    named = set(re.findall(r"/credentials/([\w/.-]+/[\w.-]+)(?=$|\s|:)", text, re.MULTILINE))
    files = {name for name in named if f"/credentials/{name}" not in folders}
    assert {"agent/token", "load/token", "server/tokens.json", "mysql/app-password", "measuring-server/dsn"} <= files
    assert [name for name in files if not (tmp_path / name).stat().st_size] == []


def test_credentials_stay_and_only_what_is_lost_is_made_again(tmp_path: Path) -> None:
    for name in ("server", "admin", "agent", "mysql", "measuring-server", "load"):
        (tmp_path / name).mkdir()
    create_credentials(tmp_path)
    kept = {path: path.read_text() for path in tmp_path.rglob("*") if path.name in ("root-password", "dsn")}
    admin, agent = tmp_path / "admin" / "token", tmp_path / "agent" / "token"
    admin_token, lost = admin.read_text().strip(), agent.read_text().strip()
    agent.unlink()
    create_credentials(tmp_path)
    assert len(kept) == 2
    assert {path: path.read_text() for path in kept} == kept
    assert admin.read_text().strip() == admin_token
    records = parse_tokens((tmp_path / "server" / "tokens.json").read_text(), "tokens.json")
    roles = {
        record.role
        for token in (admin_token, agent.read_text().strip())
        if (record := match_token(records, hash_token(token)))
    }
    assert roles == {Role.ADMIN, Role.AGENT}
    load = match_token(records, hash_token((tmp_path / "load" / "token").read_text().strip()))
    assert load is not None
    assert load.role is Role.EDITOR, "who starts runs need not be an administrator"
    assert match_token(records, hash_token(lost)) is None


def filled(text: str) -> str:
    """A value with the defaults of its variables."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_the_load_is_a_run_that_the_command_line_takes(tmp_path: Path) -> None:
    """The very words of the service, against a server of these sources, with the load generator that make builds."""
    words = [filled(word) for word in services()["load"]["command"]]
    at = words.index("--")
    (tmp_path / "token").write_text("none")
    here = {
        "--server": "--offline",
        "--token-file": f"--token-file={tmp_path / 'token'}",
        "--state-directory": f"--state-directory={tmp_path / 'runs'}",
        "--result": f"--result={tmp_path / 'load.csv'}",
        "--duration": "--duration=1s",
    }
    options = [here.get(word.split("=")[0], word) for word in words[:at]]
    assert {word.split("=")[0] for word in words[:at]} >= set(here)
    assert words[at + 1] == "measuring-load"
    tool = {"-duration": "-duration=1s", "-output": f"-output={tmp_path / 'load.csv'}", "-clients": "-clients=1"}
    arguments = [tool.get(word.split("=")[0], word) for word in words[at + 2 : -1]]
    command = ["run", *options, "--", str(ROOT / "build" / "measuring-load"), *arguments, "http://127.0.0.1:9/"]
    done = subprocess.run(
        [Path(sys.executable).with_name("loadwatch"), *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert (tmp_path / "load.csv").stat().st_size > 0


def test_notifications_reach_the_receiver_that_prints_them(tmp_path: Path) -> None:
    loadwatch = Path(sys.executable).with_name("loadwatch")
    file = ROOT / "deploy" / "notifications.yml"
    checked = subprocess.run(
        [loadwatch, "routes", "check", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (url,) = [one["url"] for one in yaml.safe_load(file.read_text())["receivers"][0]["webhook_configs"]]
    assert url == "http://receiver:9000/"
    command = services()["receiver"]["command"]
    assert command[-1].endswith(":9000")
    port = free_port()
    printer = subprocess.Popen(
        [sys.executable, "-u", ROOT / "deploy" / Path(command[1]).name, f"127.0.0.1:{port}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert printer.stdout is not None
    try:
        alert = {
            "status": "firing",
            "labels": {"alertname": "PoolWaits"},
            "annotations": {"summary": "requests wait for a connection"},
            "generatorURL": "http://127.0.0.1:8000/alerts/1",
        }
        transport = httpx.HTTPTransport(retries=20)
        with httpx.Client(transport=transport, timeout=120) as client:
            assert client.post(f"http://127.0.0.1:{port}/", json={"version": "4", "alerts": [alert]}).status_code == 200
            assert client.post(f"http://127.0.0.1:{port}/", content=b"no JSON").status_code == 200
        assert (
            printer.stdout.readline()
            == "firing   PoolWaits: requests wait for a connection http://127.0.0.1:8000/alerts/1\n"
        )
        assert printer.stdout.readline() == "no JSON\n"
    finally:
        printer.kill()
        printer.wait()
        printer.stdout.close()


def test_the_proxys_configuration_is_nginxs_and_its_log_is_read_with_times(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    (log,) = re.findall(r"access_log (/\S+) timed;", text)
    config = load_config(read_document(ROOT / "deploy" / "loadwatch.yml"), sources_by_name())
    (read,) = [one.settings.path for one in config.collectors if one.source.name == "access_log"]
    assert read == log
    mounted = [mount.split(":")[1] for mount in services()["proxy"]["volumes"]]
    assert str(Path(log).parent) in mounted
    local = text.replace("/tmp/", f"{tmp_path}/").replace("measuring-server:8080", "127.0.0.1:9")
    (tmp_path / "nginx.conf").write_text(local.replace(log, str(tmp_path / "access.log")), encoding="utf-8")
    done = subprocess.run(["nginx", "-t", "-c", tmp_path / "nginx.conf"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "$request_time'" in text


def test_statements_are_counted_by_a_server_that_ships_with_them_off() -> None:
    command = services()["mysql"]["command"]
    assert "--performance-schema=ON" in command
    assert "--performance-schema-consumer-events-statements-current=ON" in command


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_dockerfile(dockerfile: Path) -> None:
    assert dockerfile in [dockerfile_of(service) for service in services().values()], "no service uses it"
    steps = instructions(dockerfile)
    runs = [text for word, text in steps if word == "RUN"]
    commands = [shlex.split(command) for run in runs for command in run.split("&&")]
    targets = [target for command in commands if command[0] == "make" for target in command[1:]]
    assert targets, "an image is made by the Makefile's own steps"
    assert set(targets) <= make_targets()
    for text in [text for word, text in steps if word == "COPY" and "--from=" not in text]:
        for source in shlex.split(text)[:-1]:
            assert (ROOT / source).exists(), source
            assert _is_sent_to_the_builder(source), f"{source} is left out by .dockerignore"
    users = [text for word, text in steps if word == "USER"]
    assert users
    assert users[-1] not in ("root", "0")
    defaults = dict(text.split("=", 1) for word, text in steps if word == "ARG")
    for stage in [text.split()[0] for word, text in steps if word == "FROM"]:
        name = stage.removeprefix("${").removesuffix("}")
        assert stage == f"${{{name}}}", "a base image is a build argument, so that a digest can be given"
        assert EXACT_IMAGE.search(defaults[name]), "a tag without a full version changes under our feet"


def _is_sent_to_the_builder(path: str) -> bool:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = [line.removeprefix("!") for line in lines if line.startswith("!")]
    return any(path == entry or path.startswith(f"{entry}/") or entry.startswith(f"{path}/") for entry in allowed)
