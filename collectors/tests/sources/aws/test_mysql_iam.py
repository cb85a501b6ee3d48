import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.sources.aws.client.client import LoginToken
from loadwatch_collectors.sources.mysql.collector import MySQLCollector, MySQLSettings
from loadwatch_collectors.sources.mysql.iam import IamPassword, region_of

from collectors.tests.mariadb import running_mariadb
from collectors.tests.sources.aws.moto_server import REGION
from collectors.tests.sources.aws.rds_server import RdsServer, running_rds


@pytest.fixture(scope="module")
def database_port() -> Iterator[int]:
    with running_mariadb(Path(tempfile.mkdtemp(prefix="lw-"))) as server:
        server.run("CREATE USER watcher@'127.0.0.1'", "GRANT PROCESS ON *.* TO watcher@'127.0.0.1'")
        yield server.port


@pytest.fixture
def rds(database_port: int, tmp_path: Path, aws_environment: None) -> Iterator[RdsServer]:
    with running_rds(database_port, tmp_path) as server:
        yield server


def settings(rds: RdsServer) -> MySQLSettings:
    return MySQLSettings(
        port=rds.port, user="watcher", iam_auth=True, iam_region=REGION, tls_ca_file=str(rds.certificate)
    )


@pytest.fixture
def collector(rds: RdsServer) -> Iterator[MySQLCollector]:
    made = MySQLCollector(settings(rds))
    yield made
    made.close()


def test_a_token_that_the_server_verifies_is_the_password(collector: MySQLCollector, rds: RdsServer):
    for _ in range(3):
        assert any(sample.name == "mysql_global_variables_max_connections" for sample in collector.collect())
    assert not rds.faults
    assert len(rds.tokens) == 1  # the session is kept


def test_a_session_outlives_its_token_and_a_new_one_has_a_new_token(
    rds: RdsServer, aws_environment: None, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]
    real = MySQLCollector(settings(rds))
    real.collect()
    real.close()
    source = _Counting()
    password = IamPassword(cast("Any", source), host="h", port=1, user="u", monotonic=lambda: clock[0])
    assert (password(), password()) == ("token-1", "token-1")
    clock[0] = 700
    assert password() == "token-1"
    clock[0] = 781  # two minutes before its end
    assert password() == "token-2"
    password.forget()
    assert password() == "token-3"


class _Counting:
    def __init__(self) -> None:
        self.made = 0

    def database_token(self, *, host: str, port: int, user: str) -> LoginToken:
        del host, port, user
        self.made += 1
        return LoginToken(token=f"token-{self.made}", valid_seconds=900.0)


def test_a_lost_session_is_opened_anew(collector: MySQLCollector, rds: RdsServer):
    collector.collect()
    rds.drop()
    assert collector.collect()
    assert len(rds.tokens) == 2
    assert not rds.faults


def test_a_refused_token_says_what_to_check_and_is_not_used_again(collector: MySQLCollector, rds: RdsServer):
    rds.refuses = True
    with pytest.raises(PrivilegeError, match=r"rds-db:connect.*AWSAuthenticationPlugin"):
        collector.collect()
    rds.refuses = False
    assert collector.collect()


def test_credentials_that_are_wrong_are_refused(rds: RdsServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-key")
    collector = MySQLCollector(settings(rds))
    with pytest.raises(PrivilegeError):
        collector.collect()
    assert rds.faults == ["the signature is wrong"]
    collector.close()


def test_without_credentials_it_says_so(rds: RdsServer, monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    collector = MySQLCollector(settings(rds))
    with pytest.raises(CollectorError, match="there are no credentials"):
        collector.collect()
    collector.close()


def test_a_token_never_goes_out_in_the_clear(rds: RdsServer):
    rds.offers_tls = False
    collector = MySQLCollector(settings(rds))
    with pytest.raises(CollectorError, match="SSL is required"):
        collector.collect()
    assert not rds.tokens
    assert not any(b"X-Amz" in seen for seen in rds.clear)
    collector.close()


def test_an_unknown_certificate_gets_no_token(rds: RdsServer):
    collector = MySQLCollector(MySQLSettings(port=rds.port, user="watcher", iam_auth=True, iam_region=REGION))
    with pytest.raises(CollectorError, match=r"global-bundle\.pem"):
        collector.collect()
    assert not rds.tokens
    collector.close()


def test_iam_needs_verified_tls():
    assert MySQLSettings(user="w", iam_auth=True).tls_mode == "verify_identity"
    assert MySQLSettings(user="w", iam_auth=True, tls="verify_ca").tls_mode == "verify_ca"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"iam_auth": True, "tls": "off"}, "only over TLS"),
        ({"iam_auth": True, "unix_socket": "/s"}, "only over TLS"),
        ({"iam_auth": True, "tls": "required"}, "must be verify_identity"),
        ({"iam_auth": True, "password_file": "x"}, "leave password_file"),
        ({"iam_region": "eu-west-1"}, "only with iam_auth"),
    ],
)
def test_settings_that_contradict_each_other(keys: dict[str, Any], says: str):
    with pytest.raises(ValueError, match=says):
        MySQLSettings(user="w", **keys)


def test_the_region_is_in_the_name_or_must_be_given(aws_environment: None, monkeypatch: pytest.MonkeyPatch):
    assert region_of("shop-1.c9akciq32.ap-northeast-1.rds.amazonaws.com") == "ap-northeast-1"
    assert region_of("shop.cluster-c9.us-gov-west-1.rds.amazonaws.com") == "us-gov-west-1"
    assert region_of("db.internal") == ""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(ConfigError, match="iam_region"):
        MySQLCollector(MySQLSettings(host="db.internal", user="w", iam_auth=True))
