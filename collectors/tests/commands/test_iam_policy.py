import json
import subprocess
import sys
from pathlib import Path

ROLE = "arn:aws:iam::210987654321:role/loadwatch"
CONFIG = f"""\
targets:
  - job: shop
    cloudwatch:
      regions: [ap-northeast-1]
      presets: [rds]
      accounts: [{{role_arn: "{ROLE}"}}]
"""


def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    program = (
        f"{code}from loadwatch_collectors.commands.iam_policy import iam_policy; "
        "iam_policy(prog_name='loadwatch iam-policy')"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_policy_is_printed_without_a_configuration() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    policy = json.loads(done.stdout)
    assert policy["Version"] == "2012-10-17"
    assert "cloudwatch:GetMetricData" in policy["Statement"][0]["Action"]


def test_a_role_has_a_policy_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text(CONFIG, encoding="utf-8")
    own = run("--config", str(path))
    assert json.loads(own.stdout)["Statement"][0]["Action"] == ["sts:AssumeRole"]
    assert f"loadwatch iam-policy --config {path} --role {ROLE}" in own.stderr
    theirs = run("--config", str(path), "--role", ROLE)
    assert theirs.stderr == ""
    assert {statement["Sid"] for statement in json.loads(theirs.stdout)["Statement"]} == {
        "LoadwatchRead",
        "LoadwatchRds",
    }


def test_what_is_lost_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text("targets: [{job: a, cloudwatch: {presets: [sqs]}}]\n", encoding="utf-8")
    done = run("--config", str(path), "--explain")
    assert done.stdout == (
        "cloudwatch:GetMetricData\n    lost without it: all metrics of CloudWatch\n"
        "sqs:ListQueues\n    lost without it: SQS queues are not found: none of their metrics is read\n"
    )


def test_mistakes_end_with_2(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text("targets: [{job: a, cloudwatch: {presets: [redis]}}]\n", encoding="utf-8")
    done = run("--config", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"loadwatch iam-policy: {path}:1: targets[0].cloudwatch: presets: 'redis' is not a preset; there are alb,"
    )


def test_it_works_without_boto3() -> None:
    done = run(code="import sys; sys.modules['boto3'] = sys.modules['botocore'] = None; ")
    assert done.returncode == 0, done.stderr
