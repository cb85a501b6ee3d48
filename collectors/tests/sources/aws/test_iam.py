import json
import re
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.commands.iam_policy import (
    ConfiguredSource,
    agent_needs,
    block_of,
    configured_needs,
    default_needs,
    role_needs,
)
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.errors import iam_action
from loadwatch_collectors.sources.aws.discovery.discovery import PARTS
from loadwatch_collectors.sources.aws.iam import (
    PolicyNeeds,
    lost_without,
    make_policy,
    needed_actions,
    read_actions,
)
from loadwatch_collectors.sources.aws.presets import preset_files, read_preset_file
from loadwatch_collectors.sources.aws.settings import (
    AccountSettings,
    CloudWatchSettings,
    CustomMetricSettings,
    SelectSettings,
)
from loadwatch_collectors.sources.mysql_statements.slow_log import LOG_ACTIONS

from collectors.tests.sources.aws.moto_server import MotoServer

AWS = Path(__file__).parents[3] / "loadwatch_collectors" / "sources" / "aws"
ROLE = "arn:aws:iam::210987654321:role/loadwatch"
_SIGNS = 6144
"""A managed policy may have so many, white space left out."""


def block(settings: CloudWatchSettings) -> ConfiguredSource:
    found = block_of(settings)
    assert found is not None
    return found


def statements(policy: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {statement["Sid"]: statement for statement in policy["Statement"]}


def actions_of(policy: dict[str, Any]) -> list[str]:
    return [action for statement in policy["Statement"] for action in statement["Action"]]


def test_every_request_in_the_code_has_its_action() -> None:
    """An operation that the code asks for and no policy allows would fail at every user's."""
    call = re.compile(r'[(,]\s*"([a-z0-9-]+)",\s*"((?:describe|get|list|filter)_[a-z_]+)"')
    found: set[str] = set()
    for path in AWS.rglob("*.py"):
        for service, operation in call.findall(path.read_text(encoding="utf-8")):
            words = "".join(word.title() for word in operation.split("_"))
            found.add(iam_action(service, words.replace("Db", "DB")))
    assert {"rds:DescribeDBInstances", "pi:GetResourceMetrics", "cloudwatch:GetMetricData"} <= found
    assert found - {"sts:GetCallerIdentity"} <= set(read_actions())


def test_every_action_that_is_named_is_known_and_used() -> None:
    named = {action for name in preset_files() for action in read_preset_file(name).permissions}
    named |= {permission.action for part in PARTS for permission in part.permissions}
    named |= {"cloudwatch:ListMetrics", "tag:GetResources"} | LOG_ACTIONS
    assert named == set(read_actions())


def test_nothing_may_be_changed() -> None:
    assert all(re.match(r"[a-z0-9-]+:(Describe|List|Get|Filter|Download)", action) for action in read_actions())


def test_the_whole_policy_is_one_that_iam_takes(moto: MotoServer) -> None:
    iam: Any = moto.client("iam")
    regions = ("ap-northeast-1", "eu-west-1", "us-east-1")
    needs = PolicyNeeds(
        actions=default_needs().actions,
        regions=regions,
        account_id="123456789012",
        roles=(ROLE,),
        database_users=("loadwatch",),
    )
    for number, wanted in enumerate((default_needs(), needs, PolicyNeeds(actions=frozenset(), roles=(ROLE,)))):
        document = json.dumps(make_policy(wanted))
        iam.create_policy(PolicyName=f"loadwatch-{number}", PolicyDocument=document)
        assert len(re.sub(r"\s", "", document)) <= _SIGNS
    with pytest.raises(Exception, match="MalformedPolicyDocument"):
        iam.create_policy(PolicyName="bad", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{}]}))


def test_a_policy_for_many_regions_stays_small() -> None:
    regions = tuple(f"eu-west-{number}" for number in range(1, 20))
    policy = make_policy(PolicyNeeds(actions=default_needs().actions, regions=regions))
    assert len(re.sub(r"\s", "", json.dumps(policy))) <= _SIGNS
    for sid, statement in statements(policy).items():
        assert statement["Condition"] == {"StringEquals": {"aws:RequestedRegion": sorted(regions)}}, sid


def test_a_policy_allows_what_is_configured_and_no_more() -> None:
    settings = CloudWatchSettings(regions=("ap-northeast-1",), presets=("sqs",))
    policy = make_policy(agent_needs([block(settings)]))
    assert policy == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "LoadwatchRead",
                "Effect": "Allow",
                "Action": ["cloudwatch:GetMetricData", "sqs:ListQueues"],
                "Resource": "*",
                "Condition": {"StringEquals": {"aws:RequestedRegion": ["ap-northeast-1"]}},
            }
        ],
    }


def test_resources_are_named_where_an_action_supports_them() -> None:
    policy = make_policy(PolicyNeeds(actions=needed_actions(CloudWatchSettings()), regions=("cn-north-1", "eu-west-1")))
    by_sid = statements(policy)
    assert "arn:aws-cn:rds:cn-north-1:*:db:*" in by_sid["LoadwatchRds"]["Resource"]
    assert by_sid["LoadwatchInsights"]["Resource"] == [
        "arn:aws-cn:pi:cn-north-1:*:metrics/rds/*",
        "arn:aws:pi:eu-west-1:*:metrics/rds/*",
    ]
    assert [sid for sid, statement in by_sid.items() if statement["Resource"] == "*"] == ["LoadwatchRead"]
    assert not any(read_actions()[action].resources for action in by_sid["LoadwatchRead"]["Action"])
    assert len(actions_of(policy)) == len(set(actions_of(policy)))


def test_wildcards_and_tags_need_more() -> None:
    plain = CloudWatchSettings(presets=(), custom=(CustomMetricSettings(namespace="Shop", metric="Orders"),))
    assert needed_actions(plain) == {"cloudwatch:GetMetricData"}
    starred = CustomMetricSettings(namespace="Shop", metric="Orders", dimensions={"Queue": "*"})
    assert "cloudwatch:ListMetrics" in needed_actions(CloudWatchSettings(presets=(), custom=(starred,)))
    tagged = CloudWatchSettings(presets=("alb",), select={"alb": SelectSettings(tags={"service": "api"})})
    assert "tag:GetResources" in needed_actions(tagged)
    assert "tag:GetResources" not in needed_actions(CloudWatchSettings(presets=("alb",)))
    described = CloudWatchSettings(
        presets=("rds", "ecs", "sqs"),
        select={"rds": SelectSettings(tags={"service": "api"}), "ecs": SelectSettings(tags={"service": "api"})},
    )
    assert "tag:GetResources" not in needed_actions(described), "describe calls tell these tags themselves"


def test_roles_are_assumed_by_the_agent_and_read_by_themselves() -> None:
    reading = block(
        CloudWatchSettings(accounts=(AccountSettings(role_arn=ROLE),), regions=("eu-west-1",), presets=("rds",))
    )
    [statement] = make_policy(agent_needs([reading]))["Statement"]
    assert statement == {
        "Sid": "LoadwatchAssumeRole",
        "Effect": "Allow",
        "Action": ["sts:AssumeRole"],
        "Resource": ROLE,
    }
    theirs = make_policy(role_needs([reading], ROLE, "loadwatch.yml"))
    assert "arn:aws:rds:eu-west-1:210987654321:db:*" in statements(theirs)["LoadwatchRds"]["Resource"]
    with pytest.raises(ConfigError, match="nothing in it assumes the role arn:aws:iam::1:role/x"):
        role_needs([reading], "arn:aws:iam::1:role/x", "loadwatch.yml")


def test_blocks_of_a_file_are_put_together() -> None:
    both = agent_needs(
        [
            block(CloudWatchSettings(regions=("eu-west-1",), presets=("sqs",))),
            block(CloudWatchSettings(presets=("lambda",))),
        ]
    )
    assert {"sqs:ListQueues", "lambda:ListFunctions"} <= both.actions
    # One of them reads the region of its environment, which a policy cannot know.
    assert both.regions == ()


def test_each_permission_says_what_is_lost_without_it() -> None:
    lost = lost_without([*read_actions(), "sts:AssumeRole", "rds-db:connect"])
    assert all(lost.values())
    assert next(iter(lost)) == "cloudwatch:GetMetricData"
    assert (
        lost["pi:GetResourceMetrics"]
        == "database load by wait and statement, and the engine's counters (Performance Insights)"
    )


def test_a_file_without_aws_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text("targets:\n  - {job: host, host: {}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"loadwatch\.yml: nothing in it reads AWS"):
        configured_needs(path)


def test_databases_that_are_found_and_logged_into_are_in_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text(
        """\
targets:
  - job: shop
    mysql: {user: watcher, iam_auth: true, discover: {regions: [eu-west-1]}}
  - job: shop-rows
    probe:
      url: http://127.0.0.1:1/
      mysql: {host: db.example.com, user: prober, iam_auth: true, iam_region: eu-west-1}
  - job: plain
    mysql: {user: other}
""",
        encoding="utf-8",
    )
    assert make_policy(configured_needs(path))["Statement"] == [
        {
            "Sid": "LoadwatchRds",
            "Effect": "Allow",
            "Action": ["rds:DescribeDBInstances", "rds:DescribeDBClusters"],
            "Resource": ["arn:aws:rds:eu-west-1:*:db:*", "arn:aws:rds:eu-west-1:*:cluster:*"],
            "Condition": {"StringEquals": {"aws:RequestedRegion": ["eu-west-1"]}},
        },
        {
            "Sid": "LoadwatchDatabaseLogin",
            "Effect": "Allow",
            "Action": ["rds-db:connect"],
            "Resource": [
                "arn:aws:rds-db:eu-west-1:*:dbuser:*/prober",
                "arn:aws:rds-db:eu-west-1:*:dbuser:*/watcher",
            ],
        },
    ]
