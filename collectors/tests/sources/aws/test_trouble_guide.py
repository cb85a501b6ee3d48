"""The messages in the guide are those that the program prints."""

from pathlib import Path

import pytest
from loadwatch_collectors.sources.aws.client.errors import Refusal, explain
from loadwatch_collectors.sources.aws.discovery.part import Permission

GUIDE = (Path(__file__).resolve().parents[4] / "docs" / "guide" / "aws-page.md").read_text(encoding="utf-8")
PLACE = "ap-northeast-1 of account 123456789012"
DENIED = (
    "User: arn:aws:sts::123456789012:assumed-role/loadwatch/i-0abc is not authorized to perform: "
    "cloudwatch:GetMetricData on resource: * because no identity-based policy allows the cloudwatch:GetMetricData "
    "action"
)
REFUSALS = {
    "throttled": Refusal(
        service="cloudwatch",
        operation="GetMetricData",
        where=PLACE,
        status=400,
        code="ThrottlingException",
        message="Rate exceeded",
    ),
    "expired": Refusal(
        service="sts",
        operation="GetCallerIdentity",
        where="ap-northeast-1",
        status=403,
        code="ExpiredToken",
        message="The security token included in the request is expired",
    ),
    "refused": Refusal(
        service="sts",
        operation="GetCallerIdentity",
        where="af-south-1",
        status=403,
        code="InvalidClientTokenId",
        message="The security token included in the request is invalid.",
    ),
    "forbidden": Refusal(
        service="cloudwatch",
        operation="GetMetricData",
        where=PLACE,
        status=400,
        code="AccessDeniedException",
        message=DENIED,
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_the_guide_has_the_message(refusal: Refusal) -> None:
    assert f"\n{explain(refusal)}\n" in GUIDE


def test_the_guide_has_the_words_for_a_wrong_clock() -> None:
    refusal = Refusal(
        service="sts",
        operation="GetCallerIdentity",
        where="ap-northeast-1",
        status=403,
        code="SignatureDoesNotMatch",
        message="",
        offset_seconds=310.0,
    )
    assert f"\n{str(explain(refusal)).rpartition(' (')[0]}\n" in GUIDE


def test_the_guide_has_the_remedy_for_a_missing_permission() -> None:
    one = Permission("rds:DescribeDBParameters", "").missing()
    assert f"  lacks {one.permission}\n" in GUIDE
    assert f"    remedy: {one.remedy}\n" in GUIDE
