import re
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pymysql
import pytest
from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.config import load_config
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.mysql.collector import MYSQL, STATUSES, MySQLCollector, MySQLSettings, status_series
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_collectors.transport.mysql_session import MySQLLogin, MySQLSession
from prometheus_client.parser import text_string_to_metric_families

from collectors.tests.exporters import mysqld_exporter, read_page, running_exporter
from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.servers import Conversation, make_certificate, tcp_server
from tests.ports import free_port

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "sources-database.md"
LISTENER = "mysql_info_schema_processlist_processes_by_"


@pytest.fixture
def collector(mariadb: MariaDB, password_file: str) -> Iterator[MySQLCollector]:
    made = MySQLCollector(
        MySQLSettings(port=mariadb.port, user="watcher", password_file=password_file, processes_every=0, tables_every=0)
    )
    yield made
    made.close()


def values(samples: Iterable[Sample]) -> dict[tuple[str, Labels], float]:
    found: dict[tuple[str, Labels], float] = {}
    for sample in samples:
        assert (sample.name, sample.labels) not in found, f"{sample} is there twice"
        found[sample.name, sample.labels] = sample.value
    return found


@pytest.fixture(autouse=True)
def alone(request: pytest.FixtureRequest) -> None:
    """Begins a test when the server has forgotten the sessions of the one before: it does so after they have gone."""
    if "mariadb" in request.fixturenames:
        wait_until_alone(request.getfixturevalue("mariadb"))


def wait_until_alone(mariadb: MariaDB) -> None:
    with mariadb.connect() as root, root.cursor() as cursor:

        def others() -> int:
            cursor.execute(
                "SELECT COUNT(*) FROM information_schema.processlist"
                " WHERE id <> CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler')"
            )
            return int((cursor.fetchone() or (0,))[0])

        wait_until(lambda: others() == 0)


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)


@contextmanager
def connections(mariadb: MariaDB, count: int) -> Generator[None]:
    with ExitStack() as stack:
        for _ in range(count):
            connection = pymysql.connect(
                host="127.0.0.1", port=mariadb.port, user="application", database="shop", ssl_disabled=True
            )
            stack.callback(connection.close)
        yield


@contextmanager
def max_connections(mariadb: MariaDB, count: int) -> Generator[None]:
    mariadb.run(f"SET GLOBAL max_connections = {count}")
    try:
        yield
    finally:
        mariadb.run("SET GLOBAL max_connections = 151")


def test_limits_and_status(collector: MySQLCollector) -> None:
    found = values(collector.collect())
    assert found["mysql_up", ()] == 1
    assert found["mysql_global_variables_max_connections", ()] == 151
    assert found["mysql_global_status_threads_connected", ()] >= 1
    assert found["mysql_global_status_max_used_connections", ()] >= 1
    assert found["mysql_global_status_connection_errors_total", (("error", "max_connections"),)] >= 0
    assert found["mysql_session_extra_slot", ()] == 0
    names = {name for name, _ in found}
    assert "mysql_version_info" in names
    assert "mysql_server_role_info" in names
    assert not names - {metric.name for metric in MYSQL.metrics}


def test_all_other_variables_are_labels(collector: MySQLCollector) -> None:
    found = values(collector.collect())
    others = {
        dict(labels)["variable"]: dict(labels)["value"]
        for name, labels in found
        if name == "mysql_global_variables_info"
    }
    assert others["sql_mode"].startswith("STRICT_TRANS_TABLES")
    assert others["innodb_flush_method"]
    assert others["join_buffer_size"] == "262144"
    # Those with a metric of their own, those without a value, and those that may hold a secret are not repeated.
    assert not {"max_connections", "report_password", "init_connect", "gtid_current_pos"} & others.keys()
    assert all(0 < len(value.encode()) <= 200 for value in others.values())


def test_counters_move_with_the_work(mariadb: MariaDB, collector: MySQLCollector) -> None:
    key = ("mysql_global_status_handlers_total", (("handler", "write"),))
    before = values(collector.collect())
    mariadb.run("INSERT INTO shop.goods (name) SELECT seq FROM shop.seq_1_to_100")
    after = values(collector.collect())
    assert after[key] - before[key] >= 100
    insert = ("mysql_global_status_commands_total", (("command", "insert_select"),))
    assert after[insert] - before[insert] == 1


def test_connections_by_user_and_host(mariadb: MariaDB, collector: MySQLCollector) -> None:
    users, hosts = LISTENER + "user", LISTENER + "host"
    expected = {
        (users, (("mysql_user", "application"),)): 7,
        (users, (("mysql_user", "root"),)): 1,
        (hosts, (("client_host", "127.0.0.1"),)): 7,
        (hosts, (("client_host", "localhost"),)): 1,
    }
    with connections(mariadb, 7), mariadb.connect():
        # A session of root's from before may still be on its way out.
        wait_until(lambda: expected.items() <= values(collector.collect()).items())
    assert not collector.missing_privileges()


def test_table_sizes(mariadb: MariaDB, collector: MySQLCollector) -> None:
    found = values(collector.collect())
    labels = (("schema", "shop"), ("table", "goods"))
    assert ("mysql_info_schema_table_rows", labels) in found
    assert found["mysql_info_schema_table_size", (*labels, ("component", "data_length"))] > 0


def test_dear_readings_are_repeated_until_they_are_due(mariadb: MariaDB) -> None:
    collector = MySQLCollector(
        MySQLSettings(unix_socket=mariadb.socket_path, user="root", processes_every=3600, variables_every=3600)
    )
    first = values(collector.collect())
    with max_connections(mariadb, 140), connections(mariadb, 3):
        second = values(collector.collect())
    collector.close()
    key = ("mysql_global_variables_max_connections", ())
    assert (first[key], second[key]) == (151, 151)
    assert (LISTENER + "user", (("mysql_user", "application"),)) not in second
    assert second["mysql_global_status_threads_connected", ()] > first["mysql_global_status_threads_connected", ()]


def test_an_account_without_grants_says_what_it_lacks(mariadb: MariaDB) -> None:
    collector = MySQLCollector(MySQLSettings(port=mariadb.port, user="blind", processes_every=0, schemas=("shop",)))
    with connections(mariadb, 2):
        found = values(collector.collect())
    missing = {item.permission: item for item in collector.missing_privileges()}
    collector.close()
    assert found["mysql_global_status_threads_connected", ()] >= 3
    assert missing["PROCESS"].remedy == "GRANT PROCESS ON *.* TO 'blind'@'127.0.0.1';"
    assert missing["SLAVE MONITOR"].remedy == "GRANT SLAVE MONITOR ON *.* TO 'blind'@'127.0.0.1';"
    assert missing["SELECT"].remedy == "GRANT SELECT ON `shop`.* TO 'blind'@'127.0.0.1';"
    assert LISTENER + "user" not in {name for name, _ in found}


def test_replication_that_does_not_run(mariadb: MariaDB, collector: MySQLCollector) -> None:
    running = "mysql_slave_status_slave_io_running"
    assert running not in {name for name, _ in values(collector.collect())}
    mariadb.run("CHANGE MASTER 'eu' TO master_host='127.0.0.1', master_port=1, master_user='nobody'")
    try:
        again = MySQLCollector(MySQLSettings(unix_socket=mariadb.socket_path, user="root"))
        found = values(again.collect())
        again.close()
    finally:
        mariadb.run("RESET SLAVE 'eu' ALL")
    assert found[running, (("connection_name", "eu"), ("master_host", "127.0.0.1"))] == 0


@pytest.mark.parametrize("password", ["pässword", "日本", "a'b"])
def test_the_bytes_of_the_file_are_the_password(mariadb: MariaDB, tmp_path: Path, password: str) -> None:
    quoted = password.replace("'", "''")
    mariadb.run(f"CREATE OR REPLACE USER odd@'127.0.0.1' IDENTIFIED BY '{quoted}'")
    file = tmp_path / "odd"
    file.write_bytes(password.encode() + b"\n")
    collector = MySQLCollector(MySQLSettings(port=mariadb.port, user="odd", password_file=str(file)))
    assert ("mysql_up", ()) in values(collector.collect())
    collector.close()


def test_the_remedy_works(mariadb: MariaDB) -> None:
    mariadb.run("CREATE USER poor@'127.0.0.1'")
    settings = MySQLSettings(port=mariadb.port, user="poor", schemas=("shop",))
    collector = MySQLCollector(settings)
    collector.collect()
    mariadb.run(*(statement for item in collector.missing_privileges() for statement in [item.remedy.rstrip(";")]))
    collector.close()
    after = MySQLCollector(settings)
    found = values(after.collect())
    assert not after.missing_privileges()
    assert ("mysql_info_schema_table_rows", (("schema", "shop"), ("table", "goods"))) in found
    after.close()


def fill_up(mariadb: MariaDB, stack: ExitStack, collector: MySQLCollector, most: int) -> None:
    """Take every connection; a session on its way out leaves its place to one of these, too."""
    taken = (LISTENER + "user", (("mysql_user", "application"),))

    def is_full() -> bool:
        try:
            stack.enter_context(connections(mariadb, 1))
        except pymysql.OperationalError:
            return values(collector.collect())[taken] == most - 1
        return False

    wait_until(is_full)


def test_a_kept_session_sees_a_full_server(mariadb: MariaDB, collector: MySQLCollector) -> None:
    collector.collect()
    late = MySQLCollector(MySQLSettings(port=mariadb.port, user="blind"))
    with max_connections(mariadb, 12), ExitStack() as stack:
        fill_up(mariadb, stack, collector, 12)
        found = values(collector.collect())
        assert found["mysql_global_status_threads_connected", ()] >= 12
        assert found[LISTENER + "user", (("mysql_user", "application"),)] >= 10
        with pytest.raises(
            CollectorError, match=r"Too many connections \(1040\): every connection is taken.*CONNECTION ADMIN"
        ):
            late.collect()
        root = MySQLCollector(MySQLSettings(unix_socket=mariadb.socket_path, user="root"))

        def has_extra_slot() -> bool:
            # The one that was refused above holds it until its connection has ended.
            with suppress(CollectorError):
                return values(root.collect())["mysql_session_extra_slot", ()] == 1
            return False

        wait_until(has_extra_slot)
        root.close()


def test_a_wrong_password_is_a_matter_of_privileges(mariadb: MariaDB) -> None:
    with pytest.raises(PrivilegeError, match="Access denied for user 'watcher'"):
        MySQLCollector(MySQLSettings(port=mariadb.port, user="watcher")).collect()


def test_an_unreadable_password_file_is_a_mistake_in_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the password of w at 127\.0\.0\.1:3306"):
        MySQLCollector(MySQLSettings(user="w", password_file=str(tmp_path / "none")))


def test_nobody_listens(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(CollectorError, match=rf"127\.0\.0\.1:{port}: connection refused"):
        MySQLCollector(MySQLSettings(port=port, user="w")).collect()
    with pytest.raises(CollectorError, match="there is no such socket"):
        MySQLCollector(MySQLSettings(unix_socket=str(tmp_path / "none"), user="w")).collect()


def test_a_server_started_anew_is_read_at_once(mariadb: MariaDB, collector: MySQLCollector) -> None:
    before = values(collector.collect())
    mariadb.stop()
    with pytest.raises(CollectorError, match="connection refused"):
        collector.collect()
    mariadb.start()
    after = values(collector.collect())
    uptime = ("mysql_global_status_uptime", ())
    assert after[uptime] <= before[uptime] + 60
    assert after["mysql_global_status_connections", ()] < 20


def test_a_killed_session_is_opened_anew(mariadb: MariaDB, collector: MySQLCollector) -> None:
    collector.collect()
    with mariadb.connect() as root, root.cursor() as cursor:
        cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'watcher'")
        for (number,) in cursor.fetchall():
            cursor.execute(f"KILL {int(number)}")
    assert values(collector.collect())["mysql_up", ()] == 1


def packet(number: int, payload: bytes) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


HANDSHAKE = packet(
    0,
    b"\x0a5.7.44\0" + struct.pack("<I", 1) + b"abcdefgh\0" + struct.pack("<H", 0xF7FF & ~0x0800) + b"\x21"
    + struct.pack("<HH", 2, 0x000F) + bytes([21]) + b"\0" * 10 + b"ijklmnopqrst\0" + b"mysql_native_password\0",
)  # fmt: skip
OK = b"\0\0\0\x02\0\0\0"


def column(number: int, name: bytes) -> bytes:
    text = bytes([len(name)]) + name
    return packet(number, b"\x03def\0\0\0" + text + text + b"\x0c" + struct.pack("<HIBHBH", 33, 255, 253, 0, 0, 0))


def hang_in_the_answer(began: threading.Event) -> Conversation:
    """Log anyone in, then begin an answer and say no more."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(HANDSHAKE)
        connection.recv(4096)
        connection.sendall(packet(2, OK))
        while True:
            command = connection.recv(4096)
            if not command:
                return
            if b"SELECT" in command:
                eof = b"\xfe\0\0\x02\0"
                connection.sendall(packet(1, b"\x02") + column(2, b"a") + column(3, b"b") + packet(4, eof) + b"\x40\0")
                began.set()
                continue
            connection.sendall(packet(1, OK))

    return talk


def test_a_server_that_hangs_in_the_middle_of_an_answer() -> None:
    began = threading.Event()
    with tcp_server(hang_in_the_answer(began)) as port:
        collector = MySQLCollector(MySQLSettings(port=port, user="w", deadline=2.0))
        for _ in range(2):
            with pytest.raises(CollectorError, match=rf"127\.0\.0\.1:{port}: no complete answer within 2 s"):
                collector.collect()
        assert began.is_set()
        collector.close()


def test_a_server_that_says_nothing() -> None:
    with tcp_server(lambda connection: connection.recv(1)) as port:
        collector = MySQLCollector(MySQLSettings(port=port, user="w", deadline=0.3))
        with pytest.raises(CollectorError, match="no complete answer within"):
            collector.collect()


def test_close_ends_a_reading_under_way() -> None:
    began = threading.Event()
    errors: list[Exception] = []
    with tcp_server(hang_in_the_answer(began)) as port:
        collector = MySQLCollector(MySQLSettings(port=port, user="w", deadline=60))

        def collect() -> None:
            try:
                collector.collect()
            except CollectorError as error:
                errors.append(error)

        thread = threading.Thread(target=collect)
        thread.start()
        assert began.wait(60)
        collector.close()
        thread.join(60)
        assert not thread.is_alive()
    assert len(errors) == 1


def test_a_statement_that_takes_too_long_leaves_the_session_alive(mariadb: MariaDB, password_file: str) -> None:
    login = MySQLLogin(port=mariadb.port, user="watcher", password_file=password_file)
    session = MySQLSession(login, lambda fresh: fresh.execute("SET SESSION max_statement_time = 1"))
    first = session.run(lambda: session.query("SELECT CONNECTION_ID()"))
    with pytest.raises(CollectorError, match=r"max_statement_time exceeded|\(1969\)"):
        session.run(lambda: session.query("SELECT COUNT(*) FROM shop.seq_1_to_100000 a, shop.seq_1_to_100000 b"))
    assert session.run(lambda: session.query("SELECT CONNECTION_ID()")) == first
    session.close()


def test_all_is_what_the_exporter_shows(mariadb: MariaDB) -> None:
    settings = MySQLSettings(unix_socket=mariadb.socket_path, user="root", all=True, other_variables=False)
    collector = MySQLCollector(settings)
    with connections(mariadb, 2):
        ours = values(collector.collect())
        theirs, types = exporter_page(mariadb)
    collector.close()
    prefixes = ("mysql_global_status_", "mysql_global_variables_", LISTENER)
    # Each of the two leaves out its own session and sees the other's.
    own = {(LISTENER + "user", (("mysql_user", "root"),)), (LISTENER + "host", (("client_host", "localhost"),))}
    chosen = {key for key in theirs if key[0].startswith(prefixes)} - own
    assert len(chosen) > 900
    assert chosen - set(ours) == set()
    assert {key for key in set(ours) - set(theirs) if key[0].startswith(prefixes)} == set()
    constant = {key for key in chosen if key[0].startswith("mysql_global_variables_")}
    assert {key: ours[key] for key in constant} == {key: theirs[key] for key in constant}
    for metric in MYSQL.metrics:
        if metric.name in types and metric.name.startswith(prefixes):
            assert metric.type == types[metric.name], metric.name


def exporter_page(mariadb: MariaDB) -> tuple[dict[tuple[str, Labels], float], dict[str, str]]:
    with running_exporter(*mysqld_exporter(mariadb)) as url:
        families = list(text_string_to_metric_families(read_page(url)))
    found = {(s.name, tuple(s.labels.items())): s.value for family in families for s in family.samples}
    return found, {s.name: family.type for family in families for s in family.samples}


def test_tls(tmp_path: Path, password_file: str) -> None:
    key, certificate = make_certificate(tmp_path)
    # Not in tmp_path, whose name may be too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="lw-"))
    with running_mariadb(folder, f"--ssl-cert={certificate}", f"--ssl-key={key}") as server:
        server.run("CREATE USER safe@'127.0.0.1' REQUIRE SSL")
        trusting = MySQLSettings(port=server.port, user="safe", tls="verify_identity", tls_ca_file=str(certificate))
        collector = MySQLCollector(trusting)
        assert values(collector.collect())["mysql_up", ()] == 1
        collector.close()
        any_certificate = MySQLCollector(MySQLSettings(port=server.port, user="safe", tls="required"))
        assert values(any_certificate.collect())["mysql_up", ()] == 1
        any_certificate.close()
        with pytest.raises(CollectorError, match="certificate verify failed"):
            MySQLCollector(MySQLSettings(port=server.port, user="safe", tls="verify_ca")).collect()
        preferred = MySQLCollector(MySQLSettings(port=server.port, user="safe"))
        assert values(preferred.collect())["mysql_up", ()] == 1
        preferred.close()
        with pytest.raises(PrivilegeError, match="Access denied"):
            MySQLCollector(MySQLSettings(port=server.port, user="safe", tls="off")).collect()


def test_a_server_without_tls_is_no_server_for_who_requires_it(mariadb: MariaDB) -> None:
    with pytest.raises(CollectorError, match="SSL is required but the server doesn't support it"):
        MySQLCollector(MySQLSettings(port=mariadb.port, user="blind", tls="required")).collect()


def ask_for_the_password(connection: socket.socket) -> None:
    """As MySQL 8 does on a connection that is not encrypted, for an account that it has not cached."""
    connection.sendall(packet(0, HANDSHAKE[4:].replace(b"mysql_native_password", b"caching_sha2_password")))
    connection.recv(4096)
    connection.sendall(packet(2, b"\x01\x04"))
    connection.recv(4096)
    connection.sendall(packet(4, b"\x01-----BEGIN PUBLIC KEY-----"))
    connection.recv(4096)


def test_a_password_that_may_not_go_in_the_clear(password_file: str) -> None:
    with tcp_server(ask_for_the_password) as port:
        collector = MySQLCollector(MySQLSettings(port=port, user="w", password_file=password_file))
        with pytest.raises(CollectorError, match=r"caching_sha2_password.*enable TLS on the server"):
            collector.collect()
        collector.close()


def drip_the_handshake(connection: socket.socket) -> None:
    for position in range(len(HANDSHAKE)):
        connection.sendall(HANDSHAKE[position : position + 1])
        time.sleep(0.1)


def test_a_server_that_drips() -> None:
    with tcp_server(drip_the_handshake) as port:
        collector = MySQLCollector(MySQLSettings(port=port, user="w", deadline=0.3))
        with pytest.raises(CollectorError, match=r"no complete answer within 0\.3 s"):
            collector.collect()
        collector.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MySQLSettings(user="w", tls="maybe"), "tls must be one of"),
        (lambda: MySQLSettings(user="w", port=0), "port must be"),
        (lambda: MySQLSettings(user="w", deadline=0), "deadline"),
        (lambda: MySQLSettings(user="w", tls_ca_file="x"), "only with tls"),
        (lambda: MySQLSettings(user="w", tls="off", tls_cert_file="x"), "no effect"),
        (lambda: MySQLSettings(user="w", max_tables=0), "max_tables"),
    ],
)
def test_settings_are_checked(make: Callable[[], MySQLSettings], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_every_default_status_has_a_metric() -> None:
    names = {metric.name for metric in MYSQL.metrics}
    assert {series[0] for name in STATUSES if (series := status_series(name)) is not None} <= names


def guide_blocks(language: str) -> list[str]:
    text = GUIDE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def test_the_account_of_the_guide_lacks_nothing(mariadb: MariaDB, tmp_path: Path) -> None:
    [block] = [block for block in guide_blocks("sql") if "SLAVE MONITOR" in block]
    mariadb.run(*(statement for statement in block.split(";") if statement.strip()))
    password = tmp_path / "password"
    password.write_text("a long password")
    collector = MySQLCollector(MySQLSettings(port=mariadb.port, user="loadwatch", password_file=str(password)))
    with connections(mariadb, 1):
        found = values(collector.collect())
    assert not collector.missing_privileges()
    assert found[LISTENER + "user", (("mysql_user", "application"),)] == 1
    assert ("mysql_info_schema_table_rows", (("schema", "shop"), ("table", "goods"))) in found
    collector.close()


def test_the_configurations_of_the_guide_are_valid() -> None:
    blocks = guide_blocks("yaml")
    assert len(blocks) == 2
    read = [load_config(parse_document(block, "guide"), sources_by_name()) for block in blocks]
    named = {item.source.name for config in read for item in config.collectors}
    assert named == {"dbstats", "probe", "mysql", "freshness", "prometheus"}


def test_no_session_of_the_agent_is_a_client(mariadb: MariaDB, password_file: str) -> None:
    settings = MySQLSettings(port=mariadb.port, user="watcher", password_file=password_file, processes_every=0)
    collector, other = MySQLCollector(settings), MySQLSession(settings)
    try:
        other.run(lambda: None)
        with connections(mariadb, 2):
            users = [dict(one.labels)["mysql_user"] for one in collector.collect() if one.name == f"{LISTENER}user"]
        assert users
        assert "watcher" not in users
    finally:
        collector.close()
        other.close()
