"""The faults: each makes a `Before` for the proxy, worded as AWS words it.

Sources: "Common errors" of each API's reference, "Troubleshooting AWS Signature Version 4", and the answers that
botocore's `ClientError.response` shows of the real services.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

from collectors.tests.sources.aws.fault_proxy.fault_proxy import CLOSE, HANG, AwsRequest, Before, Misbehave
from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_error

When = Callable[[AwsRequest], bool]


def of(service: str = "", operation: str = "", region: str = "", access_key: str = "") -> When:
    """Requests of one service, operation, region or key; empty means any."""

    def matches(request: AwsRequest) -> bool:
        return (
            service in ("", request.service)
            and operation in ("", request.operation)
            and region in ("", request.region)
            and access_key in ("", request.access_key)
        )

    return matches


def times(count: int, when: When) -> When:
    """The first `count` of the requests that match."""
    left = [count]

    def matches(request: AwsRequest) -> bool:
        if left[0] <= 0 or not when(request):
            return False
        left[0] -= 1
        return True

    return matches


def throttle(when: When, status: int = 400) -> Before:
    """400 with the service's own code, or 503 as some front doors answer."""

    def fault(request: AwsRequest) -> Answer | None:
        if not when(request):
            return None
        if request.protocol == "ec2":
            return encode_error("ec2", "RequestLimitExceeded", "Request limit exceeded.", 503)
        code = "Throttling" if request.protocol == "query" else "ThrottlingException"
        return encode_error(request.protocol, code, "Rate exceeded", status)

    return fault


def fail(when: When, status: int = 500) -> Before:
    """The service fails itself."""
    code = "ServiceUnavailable" if status == 503 else "InternalFailure"

    def fault(request: AwsRequest) -> Answer | None:
        return encode_error(request.protocol, code, "We encountered an error.", status) if when(request) else None

    return fault


def deny(*actions: str, principal: str = "arn:aws:sts::123456789012:assumed-role/loadwatch/i-0abc") -> Before:
    """Refuse actions (`rds:DescribeDBInstances`) as IAM does."""

    def fault(request: AwsRequest) -> Answer | None:
        if request.action not in actions:
            return None
        if request.protocol == "ec2":
            text = (
                f"You are not authorized to perform this operation. User: {principal} is not authorized to perform: "
                f"{request.action} because no identity-based policy allows the {request.action} action"
            )
            return encode_error("ec2", "UnauthorizedOperation", text, 403)
        text = (
            f"User: {principal} is not authorized to perform: {request.action} on resource: * "
            f"because no identity-based policy allows the {request.action} action"
        )
        if request.protocol == "query":
            return encode_error("query", "AccessDenied", text, 403)
        return encode_error(request.protocol, "AccessDeniedException", text, 400)

    return fault


def expire(access_keys: Collection[str]) -> Before:
    """Temporary credentials whose time is over; the collection may change while the proxy runs."""

    def fault(request: AwsRequest) -> Answer | None:
        if request.access_key not in access_keys:
            return None
        if request.protocol == "ec2":
            return encode_error("ec2", "RequestExpired", "Request has expired.", 400)
        text = "The security token included in the request is expired"
        if request.protocol == "query":
            return encode_error("query", "ExpiredToken", text, 403)
        return encode_error(request.protocol, "ExpiredTokenException", text, 400)

    return fault


def refuse_signature(offset_seconds: float, when: When | None = None) -> Before:
    """The client's clock is `offset_seconds` ahead of AWS's, beyond the five minutes that signatures allow.

    Set the proxy's `date_offset_seconds` to the negative of it, so that Date tells AWS's time.
    """

    def fault(request: AwsRequest) -> Answer | None:
        if when is not None and not when(request):
            return None
        signed = datetime.now(UTC)
        aws = signed - timedelta(seconds=offset_seconds)
        words = (f"{signed:%Y%m%dT%H%M%SZ}", f"{aws:%Y%m%dT%H%M%SZ}")
        if request.protocol == "ec2":
            return encode_error("ec2", "RequestExpired", "Request has expired.", 400)
        if offset_seconds > 0:
            edge = aws + timedelta(minutes=5)
            text = (
                f"Signature not yet current: {words[0]} is still later than {edge:%Y%m%dT%H%M%SZ} ({words[1]} + 5 min.)"
            )
        else:
            edge = aws - timedelta(minutes=5)
            text = f"Signature expired: {words[0]} is now earlier than {edge:%Y%m%dT%H%M%SZ} ({words[1]} - 5 min.)"
        if request.protocol == "query":
            return encode_error("query", "SignatureDoesNotMatch", text, 403)
        return encode_error(request.protocol, "InvalidSignatureException", text, 403)

    return fault


def hang(when: When) -> Before:
    """Never answer."""

    def fault(request: AwsRequest) -> Misbehave | None:
        return HANG if when(request) else None

    return fault


def close(when: When) -> Before:
    """End the connection without an answer."""

    def fault(request: AwsRequest) -> Misbehave | None:
        return CLOSE if when(request) else None

    return fault
