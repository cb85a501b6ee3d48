"""Nothing of the user's is left, and what belongs together still does."""

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import botocore.session
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.iam import read_actions
from loadwatch_collectors.sources.aws.model import MetricKey
from loadwatch_collectors.sources.aws.recording.redaction import Redactor
from loadwatch_collectors.sources.aws.recording.redaction_words import SAFE_WORDS

KEY = b"a key of the tests' own"
ARN = "arn:aws:rds:ap-northeast-1:123456789012:db:shop-orders-1"


def redact(value: Any, *patterns: str) -> Any:
    return Redactor(KEY, patterns).document(value)


def test_an_instance_keeps_what_aws_chose_and_loses_what_the_user_did() -> None:
    instance = {
        "DBInstanceIdentifier": "shop-orders-1",
        "DBInstanceArn": ARN,
        "DBInstanceClass": "db.r6g.large",
        "Engine": "aurora-mysql",
        "EngineVersion": "8.0.mysql_aurora.3.04.0",
        "DBInstanceStatus": "available",
        "MasterUsername": "root_of_shop",
        "Endpoint": {"Address": "shop-orders-1.cabc123.ap-northeast-1.rds.amazonaws.com", "Port": 3306},
        "AllocatedStorage": 100,
        "MultiAZ": True,
        "InstanceCreateTime": 1_790_000_000_000,
        "DBParameterGroups": [{"DBParameterGroupName": "default.aurora-mysql8.0", "ParameterApplyStatus": "in-sync"}],
        "TagList": [{"Key": "team", "Value": "checkout"}],
        "AvailabilityZone": "ap-northeast-1a",
    }
    found = redact(instance)
    text = json.dumps(found)
    for secret in ("shop", "orders", "123456789012", "root_of_shop", "cabc123", "team", "checkout", "MasterUsername"):
        assert secret not in text
    for kept in ("DBInstanceClass", "Engine", "EngineVersion", "DBInstanceStatus", "AllocatedStorage", "MultiAZ"):
        assert found[kept] == instance[kept]
    assert found["InstanceCreateTime"] == instance["InstanceCreateTime"]
    assert found["AvailabilityZone"] == "ap-northeast-1a"
    assert found["DBParameterGroups"][0]["DBParameterGroupName"] == "default.aurora-mysql8.0"
    assert found["DBInstanceArn"].startswith("arn:aws:rds:ap-northeast-1:")
    assert found["DBInstanceArn"].rpartition(":")[2] == found["DBInstanceIdentifier"]
    assert found["Endpoint"]["Address"].startswith(found["DBInstanceIdentifier"] + ".")
    assert found["Endpoint"]["Address"].endswith(".ap-northeast-1.rds.amazonaws.com")
    assert found["Endpoint"]["Port"] == 3306


def test_parts_of_an_arn_are_those_of_the_dimension() -> None:
    redactor = Redactor(KEY)
    arn = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/shop/50dc6c495c0c9188"
    dimension = redactor.text("app/shop/50dc6c495c0c9188")
    assert redactor.text(arn).endswith(f":loadbalancer/{dimension}")
    assert dimension.startswith("app/x")
    assert len(dimension.rpartition("/")[2]) == 16


def test_accounts_stay_accounts_and_ids_stay_ids() -> None:
    redactor = Redactor(KEY)
    account = redactor.text("123456789012")
    assert account != "123456789012"
    assert len(account) == 12
    assert account.isdigit()
    assert redactor.text("i-0123456789abcdef0").startswith("i-")
    assert redactor.text("10.1.2.3 and 8.8.8.8") != "10.1.2.3 and 8.8.8.8"
    assert redactor.text("10.1.2.3").startswith("10.")
    for address in ("2406:da14:123:4567:8901:2345:6789:1234", "2001:db8::5", "::1", "02:42:ac:11:00:02"):
        assert not set(address.split(":")) & set(redactor.text(f"[{address}]/64").strip("[]/64").split(":")) - {""}
    assert redactor.text("role/loadwatch") == f"role/{redactor.text('loadwatch')}"


def test_patterns_match_what_they_matched() -> None:
    redactor = Redactor(KEY, ["prod-*", "*-api-?", "team/[ab]*"])
    for pattern, name in (("prod-*", "prod-db-1"), ("*-api-?", "shop-api-7"), ("team/[ab]*", "team/alpha")):
        hashed = redactor.pattern(pattern)
        assert fnmatchcase(redactor.text(name), hashed)
        assert not any(word in hashed for word in ("prod", "api", "team"))
    assert not fnmatchcase(redactor.text("test-db-1"), redactor.pattern("prod-*"))
    assert redactor.pattern("*") == "*"


def test_tags_as_pairs_and_as_maps() -> None:
    redactor = Redactor(KEY)
    pairs = redactor.document({"Tags": [{"Key": "team", "Value": "checkout"}]})
    table = redactor.document({"Tags": {"team": "checkout"}})
    assert {pair["Key"]: pair["Value"] for pair in pairs["Tags"]} == table["Tags"]
    assert "team" not in table["Tags"]
    number = redactor.document({"TagList": [{"Key": "customer", "Value": "4711"}]})
    assert number["TagList"][0]["Value"] == redactor.tag("4711") != "4711"


@pytest.mark.parametrize(
    "document",
    [
        {"Environment": {"Variables": {"DB_PASSWORD": "hunter2"}}},
        {"UserData": "hunter2"},
        {"containerDefinitions": [{"environment": [{"name": "X", "value": "hunter2"}], "command": ["hunter2"]}]},
        {"Credentials": {"SecretAccessKey": "hunter2", "SessionToken": "hunter2"}},
        {"ResponseMetadata": {"HTTPHeaders": {"x-amzn-requestid": "hunter2"}}},
    ],
)
def test_secrets_are_left_out_even_hashed(document: dict[str, Any]) -> None:
    text = json.dumps(redact(document))
    assert "hunter2" not in text
    assert Redactor(KEY).text("hunter2") not in text


def test_formulas_numbers_and_waits_stay() -> None:
    parameters = {
        "Parameters": [
            {"ParameterName": "max_connections", "ParameterValue": "{DBInstanceClassMemory/12582880}"},
            {"ParameterName": "max_connections", "ParameterValue": "LEAST({DBInstanceClassMemory/9531392},5000)"},
            {"ParameterName": "init_connect", "ParameterValue": "SET @shop = 1"},
        ]
    }
    values = [row["ParameterValue"] for row in redact(parameters)["Parameters"]]
    assert values[:2] == ["{DBInstanceClassMemory/12582880}", "LEAST({DBInstanceClassMemory/9531392},5000)"]
    assert "shop" not in values[2]
    load = {"Key": {"Metric": "db.load.avg", "Dimensions": {"db.wait_event.name": "io/table/sql/handler"}}}
    assert redact(load) == load
    attributes = {"Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}]}
    assert redact(attributes) == attributes
    message = {"message": json.dumps({"engine": "MYSQL", "instanceID": "shop-1", "uptime": "1 days", "tasks": 5})}
    inner = json.loads(redact(message)["message"])
    assert inner["engine"] == "MYSQL"
    assert inner["tasks"] == 5
    assert inner["instanceID"] == Redactor(KEY).text("shop-1")


def test_metrics_of_aws_stay_readable_and_those_of_the_user_do_not() -> None:
    redactor = Redactor(KEY)
    aws = redactor.metric(
        MetricKey(namespace="AWS/RDS", name="CPUUtilization", dimensions=(("DBInstanceIdentifier", "shop-1"),))
    )
    assert (aws.namespace, aws.name) == ("AWS/RDS", "CPUUtilization")
    assert aws.dimensions == (("DBInstanceIdentifier", redactor.text("shop-1")),)
    own = redactor.metric(MetricKey(namespace="Shop/Orders", name="Paid", dimensions=(("Store", "tokyo"),)))
    assert not any(word in str(own) for word in ("Shop", "Orders", "Paid", "Store", "tokyo"))


SERVICES = {"elasticloadbalancing": "elbv2", "tag": "resourcegroupstaggingapi"}


def enumerated(shape: Any, names: tuple[str, ...] = (), seen: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """Parent, member and value of every string of which AWS lists the values."""
    if shape is None or shape.name in seen:
        return
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield from enumerated(member, (*names, name), (*seen, shape.name))
    elif shape.type_name == "list":
        yield from enumerated(shape.member, names, seen)
    elif shape.type_name == "string":
        parent, member = ("", *names)[-2:]
        yield from ((parent, member, value) for value in shape.enum)


def test_words_of_which_aws_lists_the_values_stay() -> None:
    """They are nobody's secret, and a request that has one is not found again without it."""
    sessions: Any = botocore.session
    session = sessions.get_session()
    redactor = Redactor(KEY)
    lost: set[str] = set()
    for name in read_actions():
        prefix, _, operation = name.partition(":")
        model = session.get_service_model(SERVICES.get(prefix, prefix)) if prefix not in ("rds-db", "iam") else None
        if model is None or operation not in model.operation_names:
            continue
        described = model.operation_model(operation)
        for shape in (described.input_shape, described.output_shape):
            for parent, member, value in enumerated(shape):
                if redactor.document({parent: {member: [value]}}) != {parent: {member: [value]}}:
                    lost.add(f"{name}: {parent}.{member} {value}")
    assert not lost


def test_another_recording_has_other_stand_ins() -> None:
    assert Redactor(b"one").text("shop") != Redactor(b"two").text("shop")


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz-", min_size=9, max_size=30), st.sampled_from(":/., "))
def test_any_name_is_hashed_wherever_it_stands(name: str, separator: str) -> None:
    assume(name not in SAFE_WORDS)
    redactor = Redactor(KEY)
    hashed = redactor.text(name)
    assert name not in hashed
    assert redactor.text(f"arn{separator}{name}{separator}db") == f"arn{separator}{hashed}{separator}db"
