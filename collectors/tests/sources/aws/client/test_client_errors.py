import pytest
from loadwatch_collectors.sources.aws.client.errors import (
    AwsError,
    ClockError,
    CredentialsError,
    ExpiredError,
    ForbiddenError,
    Refusal,
    RequestError,
    ServiceError,
    ThrottledError,
    describe_offset,
    explain,
    iam_action,
)


def refuse(
    code: str, message: str = "", status: int = 400, offset: float | None = None, operation: str = "GetMetricData"
) -> AwsError:
    return explain(
        Refusal(
            service="cloudwatch",
            operation=operation,
            where="eu-west-1 of account 123456789012",
            status=status,
            code=code,
            message=message,
            offset_seconds=offset,
        )
    )


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("Throttling", 400, ThrottledError),
        ("ThrottlingException", 400, ThrottledError),
        ("com.amazonaws#ThrottlingException", 400, ThrottledError),
        ("RequestLimitExceeded", 503, ThrottledError),
        ("ServiceUnavailable", 503, ThrottledError),
        ("Whatever", 429, ThrottledError),
        ("AccessDenied", 403, ForbiddenError),
        ("UnauthorizedOperation", 403, ForbiddenError),
        ("ExpiredToken", 403, ExpiredError),
        ("InvalidClientTokenId", 403, CredentialsError),
        ("InternalFailure", 500, ServiceError),
        ("InternalServiceFault", 400, ServiceError),
        ("", 502, ServiceError),
        ("ValidationError", 400, RequestError),
    ],
)
def test_codes(code: str, status: int, kind: type[AwsError]) -> None:
    error = refuse(code, status=status)
    assert type(error) is kind
    assert "cloudwatch GetMetricData in eu-west-1 of account 123456789012" in str(error)


def test_the_missing_permission_is_named_as_in_a_policy() -> None:
    error = refuse("AccessDenied", "User: arn:x is not authorized to perform: cloudwatch:ListMetrics on resource: *")
    assert isinstance(error, ForbiddenError)
    assert error.action == "cloudwatch:ListMetrics"
    plain = refuse("AccessDenied", "no")
    assert isinstance(plain, ForbiddenError)
    assert plain.action == "cloudwatch:GetMetricData"


def test_actions_of_services_whose_prefix_differs() -> None:
    assert iam_action("elbv2", "DescribeTags") == "elasticloadbalancing:DescribeTags"
    assert iam_action("resourcegroupstaggingapi", "GetResources") == "tag:GetResources"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("SignatureDoesNotMatch", "Signature expired: 20261121T100000Z is now earlier than 20261121T100500Z"),
        ("InvalidSignatureException", "Signature not yet current: 20261121T101000Z is still later than ..."),
        ("RequestTimeTooSkewed", ""),
        ("RequestExpired", "Request has expired."),
        ("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."),
    ],
)
def test_a_clock_five_minutes_off_is_explained_with_its_offset(code: str, message: str) -> None:
    error = refuse(code, message, 403, offset=-301.4)
    assert isinstance(error, ClockError)
    assert error.offset_seconds == -301.4
    assert "this host's clock is 5 min behind AWS's" in str(error)
    assert "set the clock" in str(error)


def test_a_wrong_secret_is_not_blamed_on_the_clock() -> None:
    error = refuse("SignatureDoesNotMatch", "The request signature we calculated does not match", 403, offset=0.7)
    assert type(error) is CredentialsError


def test_request_expired_with_a_good_clock_means_the_credentials() -> None:
    assert type(refuse("RequestExpired", "Request has expired.", offset=0.2)) is ExpiredError


def test_expired_credentials_hint_at_a_wrong_clock() -> None:
    assert "5 min ahead of AWS's" in str(refuse("ExpiredToken", "The token is expired", 403, offset=300.0))
    assert "clock" not in str(refuse("ExpiredToken", "The token is expired", 403, offset=1.0))


@pytest.mark.parametrize(
    ("offset", "words"),
    [(300.0, "5 min ahead of AWS's"), (-42.0, "42 s behind AWS's"), (3612.0, "60 min 10 s ahead of AWS's")],
)
def test_offsets_in_words(offset: float, words: str) -> None:
    assert describe_offset(offset) == words


def test_what_differs_in_each_answer_is_left_out() -> None:
    text = str(
        refuse("SignatureDoesNotMatch", "Signature expired: 20261121T100000Z is now earlier than 20261121T100500Z")
    )
    assert "20261121" not in text
    request = "Denied. Request ID: 8a3f2c1e-1b2c-4d5e-8f90-123456789abc"
    assert "8a3f2c1e" not in str(refuse("AccessDenied", request))
