import pytest
from loadwatch_collectors.runs.redaction import redact_command


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["hey", "-H", "Authorization: Bearer abc.def"], ["hey", "-H", "Authorization: ***"]),
        (["hey", "-H", "X-Api-Key: k", "-a", "me:pw"], ["hey", "-H", "X-Api-Key: ***", "-a", "me:***"]),
        (["x", "--token", "t1", "--url", "u"], ["x", "--token", "***", "--url", "u"]),
        (["x", "--password=p w", "PGPASSWORD=q"], ["x", "--password=*** w", "PGPASSWORD=***"]),
        (["k6", "run", "-e", "API_TOKEN=t"], ["k6", "run", "-e", "API_TOKEN=***"]),
        (["wrk", "http://me:pw@host/p?access_token=t&a=b"], ["wrk", "http://me:***@host/p?access_token=***&a=b"]),
        (["sh", "-c", "curl -H 'Cookie: a=b' x | y"], ["sh", "-c", "curl -H 'Cookie: ***' x | y"]),
        (["locust", "-u", "100", "-r", "10"], ["locust", "-u", "100", "-r", "10"]),
        (["vegeta", "attack", "-rate=5", "-targets=t"], ["vegeta", "attack", "-rate=5", "-targets=t"]),
    ],
)
def test_secrets_do_not_stay(command: list[str], shown: list[str]) -> None:
    assert redact_command(command) == shown
