from dataclasses import replace
from pathlib import Path

import pytest
from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.connect.config_file import digest, find_watched, target_lines
from loadwatch_collectors.connect.find import FoundListener, Program, Seeming
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_formats.listeners import ListenerKind

FOLDER = Path("/etc/loadwatch")
HOST = "web-1"


def listener(*kinds: ListenerKind, name: str = "shop", gives: frozenset[str] = frozenset()) -> FoundListener:
    return FoundListener(
        port=8080,
        addresses=("::",),
        uid=1000,
        program=Program(name=name, kernel_name=name[:15], uid=1000),
        pids=(2**22,),  # beyond all that there are
        owner_seen=True,
        seems=tuple(Seeming(kind=kind, told="answer", gives=gives) for kind in kinds),
    )


def config(targets: str = "  - job: host\n    host: {}\n") -> AgentConfig:
    return load_config(parse_document(f"targets:\n{targets}", "loadwatch.yml"), sources_by_name())


def lines_for(one: FoundListener, there: AgentConfig | None = None) -> str:
    there = there or config()
    return target_lines(one, find_watched(one, there), there, FOLDER, HOST)


def test_a_go_program_is_watched_by_its_process_and_its_pool() -> None:
    assert lines_for(listener("dbstats")) == (
        '- job: shop\n  process: {port: 8080}\n  dbstats: {url: "http://127.0.0.1:8080/debug/dbstats"}\n'
    )


@pytest.mark.parametrize(
    ("kind", "name"), [("mysql", "mariadbd"), ("postgresql", "postgres"), ("pgbouncer", "pgbouncer")]
)
def test_a_database_gets_an_account_and_a_file_for_its_password(kind: ListenerKind, name: str) -> None:
    login = f"host: 127.0.0.1, port: 8080, user: loadwatch, password_file: /etc/loadwatch/{kind}-8080.password"
    assert lines_for(listener(kind, name=name)) == (
        f"- job: {kind}\n  process: {{port: 8080}}\n  {kind}: {{{login}}}\n"
    )


def test_what_a_page_of_metrics_says_itself_is_not_written_twice() -> None:
    page = listener("dbstats", "metrics", gives=frozenset({"process", "dbstats"}))
    assert lines_for(page) == '- job: shop\n  prometheus: {url: "http://127.0.0.1:8080/metrics"}\n'


def test_nginx_is_watched_by_the_page_that_answered() -> None:
    found = replace(listener("http", name="nginx"), seems=(Seeming(kind="nginx", told="answer", path="/nginx_status"),))
    lines = '- job: nginx\n  process: {port: 8080}\n  nginx: {url: "http://127.0.0.1:8080/nginx_status"}\n'
    assert lines_for(found) == lines
    assert lines_for(found, config("".join(f"  {line}\n" for line in lines.splitlines()))) == ""


def test_redis_is_asked_without_an_account() -> None:
    found = listener("redis", name="redis-server")
    lines = '- job: redis\n  process: {port: 8080}\n  redis: {url: "redis://127.0.0.1:8080"}\n'
    assert lines_for(found) == lines
    assert lines_for(found, config("".join(f"  {line}\n" for line in lines.splitlines()))) == ""


@pytest.mark.parametrize("kind", ["http", "memcached", "tls"])
def test_of_what_no_source_reads_the_process_is_watched(kind: ListenerKind) -> None:
    assert lines_for(listener(kind)) == "- job: shop\n  process: {port: 8080}\n"
    assert lines_for(listener()) == "- job: shop\n  process: {port: 8080}\n"


def test_a_process_that_is_hidden_is_named_and_one_that_is_unknown_is_left_out() -> None:
    hidden = replace(listener("mysql", name="mariadbd"), owner_seen=False)
    assert "  process: {name: mariadbd}\n" in lines_for(hidden)
    assert lines_for(replace(listener(), program=None)) == ""
    unknown = lines_for(replace(listener("dbstats"), program=None))
    assert unknown == '- job: app\n  dbstats: {url: "http://127.0.0.1:8080/debug/dbstats"}\n'


def test_what_other_interfaces_alone_serve_is_not_guessed_at() -> None:
    elsewhere = replace(listener("mysql"), addresses=("10.0.0.5",))
    assert lines_for(elsewhere) == "- job: mysql\n  process: {port: 8080}\n"


def test_loadwatch_itself_and_what_belongs_to_the_system_have_nothing_to_add() -> None:
    assert lines_for(listener("loadwatch")) == ""
    assert lines_for(listener("ssh", name="sshd")) == ""
    assert lines_for(listener(name="systemd-resolve")) == ""


def test_what_is_watched_already_is_left_out_and_the_rest_joins_its_target() -> None:
    there = config("  - job: cart\n    instance: one\n    process: {port: 8080}\n")
    one = listener("dbstats")
    assert [(seen.source, seen.where) for seen in find_watched(one, there)] == [("process", "loadwatch.yml:4")]
    assert lines_for(one, there) == (
        '- job: cart\n  instance: one\n  dbstats: {url: "http://127.0.0.1:8080/debug/dbstats"}\n'
    )
    whole = config(
        "  - job: cart\n    process: {port: 8080}\n    dbstats: {url: http://localhost:8080/debug/dbstats?a=1}\n"
    )
    assert lines_for(one, whole) == ""
    login = config("  - job: db\n    mysql: {host: localhost, port: 8080, user: w}\n    process: {port: 8080}\n")
    assert lines_for(listener("mysql"), login) == ""
    socket = config("  - job: db\n    postgresql: {host: /run, port: 8080, user: w}\n    process: {port: 8080}\n")
    assert lines_for(listener("postgresql"), socket) == ""


def test_a_second_program_of_one_name_becomes_another_target() -> None:
    there = config(f"  - job: shop\n    instance: {HOST}\n    process: {{port: 9000}}\n")
    assert lines_for(listener()) == "- job: shop\n  process: {port: 8080}\n"
    assert lines_for(listener(), there) == '- job: shop\n  instance: "web-1:8080"\n  process: {port: 8080}\n'


@pytest.mark.parametrize("name", ["No", "a: b", "{x}", "# not", "日本", "a\nb", '"', "- x", "123", "true"])
def test_any_name_makes_lines_that_the_configuration_takes(name: str) -> None:
    one = replace(listener("dbstats", "metrics", "mysql", name=name), owner_seen=False)
    text = "".join(f"  {line}\n" for line in lines_for(one).splitlines())
    read = config(text)
    assert [item.source.name for item in read.collectors] == ["process", "dbstats", "prometheus", "mysql"]
    assert read.collectors[0].settings.name == name
    assert read.collectors[3].settings.password_file == "/etc/loadwatch/mysql-8080.password"


def test_a_digest_tells_lines_apart() -> None:
    assert digest("a") != digest("b")
    assert len(digest("a")) == 16
