from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import Source
from loadwatch_collectors.config import DEFAULT_URL, AgentConfig, ServerSettings, load_config
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings import Seconds, option, read_secret
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.registry import sources_by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeSettings:
    """Keys of a source that needs one."""

    host: str = option(help="Where it is.")
    password_file: str | None = option(help="File of the password.", default=None)
    pause: Seconds = option(help="A pause.", default=1.0)


def build(settings: Any) -> Any:
    raise AssertionError("loading a configuration builds nothing")


SOURCES = {
    **sources_by_name(),
    "fake": Source(name="fake", help="", settings=FakeSettings, build=build, timeout_seconds=7.0),
}


def load(text: str) -> AgentConfig:
    return load_config(parse_document(text, "loadwatch.yml"), SOURCES)


def test_defaults() -> None:
    config = load("targets: [{job: db, fake: {host: a}}]")
    assert config.server.write_url == DEFAULT_URL
    assert config.interval_seconds == 1.0
    [item] = config.collectors
    assert (item.source.name, item.identity.job, item.timeout_seconds) == ("fake", "db", 7.0)
    assert item.identity.instance
    assert item.where == "loadwatch.yml:1"


def test_everything_given() -> None:
    config = load(
        """
server: {url: "https://lw.example/prometheus/api/v1/write", token_env: LW_TOKEN, timeout: 3s}
interval: 500ms
spool: {directory: /var/spool/lw, max_bytes: 64MB, max_age: 2h}
labels: {zone: a, cluster: load}
log: json
targets:
  - job: app
    instance: web-1
    interval: 2s
    timeout: 800ms
    labels: {zone: b}
    fake: {host: x, pause: 1m30s}
    host: {}
"""
    )
    assert config.server.timeout == 3.0
    assert (config.spool.max_bytes, config.spool.max_age) == (64_000_000, 7200.0)
    assert config.interval_seconds == 0.5
    fake, host = config.collectors
    assert fake.settings.pause == 90.0
    assert (host.interval_seconds, host.timeout_seconds) == (2.0, 0.8)
    assert host.identity.labels == (("cluster", "load"), ("zone", "b"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "loadwatch.yml:1: the file is empty"),
        ("targets: [", "this is not YAML"),
        (
            "intervall: 1s\ntargets: []",
            "loadwatch.yml:1: unknown key 'intervall' in the file; did you mean 'interval'",
        ),
        ("interval: 1s", "lacks `targets:`"),
        ("interval: 1s\ntargets: []", "loadwatch.yml:2: targets must be a list with at least one target"),
        ("targets:\n  - host: {}", "loadwatch.yml:2: targets[0] lacks the key 'job'"),
        ("targets:\n  - job: a", "loadwatch.yml:2: targets[0] has no source block"),
        (
            "targets:\n  - job: a\n    hots: {}",
            "loadwatch.yml:3: unknown key 'hots' in targets[0]; did you mean 'ho",
        ),
        ("targets:\n  - job: a\n    fake:\n      host: b\n      prt: 1", "loadwatch.yml:5: unknown key 'prt'"),
        ("targets:\n  - job: a\n    fake: {}", "targets[0].fake lacks the key 'host'. Where it is."),
        ("targets:\n  - job: a\n    fake:", "targets[0].fake lacks the key 'host'"),
        (
            "targets:\n  - job: a\n    fake: x",
            ":3: targets[0].fake must be a mapping of keys, not the text",
        ),
        ("targets:\n  - job: a\n    fake:\n      host: [b]", "loadwatch.yml:4: targets[0].fake.host must be text"),
        ("targets:\n  - job: a\n    fake: {host: yes}", "must be text (put it in quotes), not the switch 'yes'"),
        ("targets:\n  - job: a\n    fake: {host: b, pause: soon}", "'soon' is not a duration; write it like 500ms"),
        (
            "targets:\n  - job: a\n    fake: {host: b, password: hunter2}",
            "secrets are not kept in this file; give pass",
        ),
        (
            "targets:\n  - job: a\n    job: b\n    host: {}",
            ":3: 'job' is given twice in targets[0]; the first",
        ),
        ("targets:\n  - job: a\n    process: {}", "targets[0].process: give exactly one of name, command"),
        ("targets:\n  - job: a\n    process: {command: '('}", "command is not a regular expression"),
        ("targets:\n  - job: a\n    sockets: {ports: 80}", "targets[0].sockets.ports must be a list"),
        ("targets:\n  - job: a\n    sockets: {ports: [80, x]}", "targets[0].sockets.ports[1] must be a whole number"),
        ("targets:\n  - job: a\n    host: {}\n  - job: a\n    host: {}", "loadwatch.yml:4: the host block of job 'a'"),
        (
            "targets:\n  - job: a\n    labels: {job: x}\n    host: {}",
            "'job' cannot be the name of a label",
        ),
        ("interval: 1ms\ntargets:\n  - {job: a, host: {}}", "loadwatch.yml:1: interval must be at least 0.05s"),
        ("server: {url: localhost}\ntargets:\n  - {job: a, host: {}}", "is not an http:// or https:// address"),
        ("server: {url: 'http://u:p@h/'}\ntargets:\n  - {job: a, host: {}}", "token_file or token_env"),
        ("server: {token: abc}\ntargets:\n  - {job: a, host: {}}", "give token_env or token_file in its place"),
        ("spool: {max_bytes: lots}\ntargets:\n  - {job: a, host: {}}", "'lots' is not a size"),
        ("log: loud\ntargets:\n  - {job: a, host: {}}", "log must be auto, json or console"),
        ("- a", "the file must be a mapping of keys, not a list"),
    ],
)
def test_a_mistake_names_the_line_and_what_to_do(text: str, wanted: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value).startswith("loadwatch.yml:")
    assert wanted in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://load:8000", "http://load:8000/"])
def test_a_server_without_a_path_is_a_loadwatch_server(address: str) -> None:
    assert ServerSettings(url=address).write_url == "http://load:8000/prometheus/api/v1/write"
    assert ServerSettings(url="http://vm:8428/api/v1/write").write_url == "http://vm:8428/api/v1/write"


def test_token_comes_from_file_or_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("from-file\n")
    monkeypatch.setenv("LW_TEST_TOKEN", "from-env")
    assert read_secret(what="the token", file=str(file), env=None) == "from-file"
    assert read_secret(what="the token", file=None, env="LW_TEST_TOKEN") == "from-env"
    assert read_secret(what="the token", file=None, env=None) is None
    monkeypatch.delenv("LW_TEST_TOKEN")
    with pytest.raises(ConfigError, match="the token: the environment variable LW_TEST_TOKEN is not set"):
        read_secret(what="the token", file=None, env="LW_TEST_TOKEN")
    with pytest.raises(ConfigError, match="the token cannot be read from"):
        read_secret(what="the token", file=str(tmp_path / "none"), env=None)


def test_the_example_file_is_valid() -> None:
    text = (Path(__file__).parents[2] / "loadwatch.example.yml").read_text()
    config = load_config(parse_document(text, "loadwatch.example.yml"), sources_by_name())
    assert {item.source.name for item in config.collectors} == set(sources_by_name())


TARGET = """
targets:
  - job: db
    mysql: {user: lw, %s}
    freshness: {user: lw, tables: [{name: shop.orders}]%s}
    probe: {url: "http://127.0.0.1:8080", mysql: {user: lw%s}}
"""


def logins(mysql: str, freshness: str = "", probe: str = "") -> list[Any]:
    """The settings by which freshness and probe log in."""
    items = {item.source.name: item for item in load(TARGET % (mysql, freshness, probe)).collectors}
    return [items["freshness"].settings, items["probe"].settings.mysql]


def test_freshness_and_probe_read_the_server_of_their_target() -> None:
    for login in logins("host: db-2, port: 3307, tls: verify_ca, tls_ca_file: /ca.pem"):
        assert (login.host, login.port, login.tls, login.tls_ca_file) == ("db-2", 3307, "verify_ca", "/ca.pem")
    for login in logins("unix_socket: /run/db.sock"):
        assert login.unix_socket == "/run/db.sock"


def test_what_a_block_says_itself_counts() -> None:
    other = ", host: db-3"
    for login in logins("host: db-2, port: 3307, tls: required", other, other):
        # Another server: neither the port nor the TLS of the first has to do with it.
        assert (login.host, login.port, login.tls) == ("db-3", 3306, "preferred")
    own = ", tls: required"
    for login in logins("host: db-2, tls: verify_ca, tls_ca_file: /ca.pem", own, own):
        assert (login.host, login.tls, login.tls_ca_file) == ("db-2", "required", None)


def test_where_a_server_comes_from_is_noted() -> None:
    notes = {item.source.name: item.notes for item in load(TARGET % ("port: 3307", "", ", host: db-3")).collectors}
    assert notes == {
        "mysql": (),
        "freshness": ("takes port from `mysql` of the same target (loadwatch.yml:4)",),
        "probe": (),
    }


def test_a_server_that_is_not_known_yet_cannot_be_taken() -> None:
    with pytest.raises(
        ConfigError, match=r"yml:5: targets\[0\].freshness.*`mysql` of this target has `discover`.*host"
    ):
        load(TARGET % ("discover: {}", "", ", host: db-3"))


def asked(blocks: str) -> dict[str, str]:
    """The address that each block of one target asks."""
    return {item.name: item.address for item in load(f"targets: [{{job: app, {blocks}}}]").collectors}


def test_a_target_can_have_several_blocks_of_one_source() -> None:
    pages = "dbstats: [{url: 'http://127.0.0.1:8080/pool'}, {url: 'http://127.0.0.1:8080/vars'}], host: {}"
    config = load(f"targets: [{{job: app, {pages}}}]")
    assert [item.name for item in config.collectors] == ["dbstats", "dbstats-2", "host"]
    assert [item.settings.url[-4:] for item in config.collectors[:2]] == ["pool", "vars"]
    folder = Path("/state")
    assert len({item.keeping_state(folder).state_file for item in config.collectors}) == 3
    with pytest.raises(ConfigError, match=r":1: targets\[0\].dbstats\[1\] is the same as the block before it"):
        load("targets: [{job: app, dbstats: [{url: 'http://a/'}, {url: 'http://a/'}]}]")
    with pytest.raises(
        ConfigError, match=r"targets\[0\].dbstats must be a mapping or a list of mappings, not an empty"
    ):
        load("targets: [{job: app, dbstats: []}]")


def test_two_targets_of_one_name_are_told_to_be_one_target() -> None:
    page = "{job: app, instance: a, dbstats: {url: 'http://127.0.0.1:8080/%s'}}"
    with pytest.raises(ConfigError, match=r"or both blocks in one target, as a list \(dbstats: \[…, …\]\)"):
        load(f"targets: [{page % 'pool'}, {page % 'vars'}]")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "HERE", "here.example.com"])
def test_all_names_of_this_host_are_one_address(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    assert asked(f"dbstats: {{url: 'http://{host}:8080/debug/dbstats'}}") == {"dbstats": "here:8080"}


def test_what_a_block_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    assert asked("prometheus: {url: 'https://App.example/metrics'}") == {"prometheus": "app.example:443"}
    assert asked("process: {port: 8080}") == {"process": "here:8080"}
    assert asked("process: {name: app}, host: {}") == {"process": "", "host": ""}
    assert asked("mysql: {user: lw, host: db}, mysql_statements: {}") == {
        "mysql": "db:3306",
        "mysql_statements": "db:3306",
    }
    assert asked("mysql: {user: lw, unix_socket: /run/mysqld.sock}") == {"mysql": ""}
    # What a target asks beside its database is what it is; its database is another program.
    assert asked("dbstats: {url: 'http://127.0.0.1:8080/'}, mysql: {user: lw}") == {
        "dbstats": "here:8080",
        "mysql": "",
    }
