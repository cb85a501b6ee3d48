import asyncio
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import Request
from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.http.parameters import (
    InvalidParameterError,
    Parameters,
    parse_seconds,
    parse_selector,
    parse_time,
    read_parameters,
    unescape_label,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1700000000", 1_700_000_000_000),
        ("1700000000.123", 1_700_000_000_123),
        ("1.7e9", 1_700_000_000_000),
        ("-5", -5000),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("2023-11-14T23:13:20.250+01:00", 1_700_000_000_250),
        ("now", None),
        ("", None),
        ("nan", None),
        ("1e300", None),
        ("2023-13-14T22:13:20Z", None),
        ("1_000", None),
    ],
)
def test_times(text: str, expected: int | None) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15", 15_000),
        ("0.5", 500),
        ("15s", 15_000),
        ("1m30s", 90_000),
        ("1h", 3_600_000),
        ("1d12h", 129_600_000),
        ("2w", 1_209_600_000),
        ("250ms", 250),
        ("", None),
        ("s", None),
        ("1s1h", None),
        ("1x", None),
        ("inf", None),
    ],
)
def test_durations(text: str, expected: int | None) -> None:
    assert parse_seconds(text) == expected


def test_an_error_names_the_parameter_and_what_it_takes() -> None:
    parameters = Parameters({"time": ["noon"], "limit": ["-1"], "step": ["x"]})
    with pytest.raises(InvalidParameterError, match=r'invalid parameter "time": cannot parse "noon"'):
        parameters.time_ms("time")
    with pytest.raises(InvalidParameterError, match=r'invalid parameter "end": cannot parse ""'):
        parameters.time_ms("end")
    with pytest.raises(InvalidParameterError, match=r'invalid parameter "limit": "-1"'):
        parameters.limit()
    with pytest.raises(InvalidParameterError, match=r'invalid parameter "step": cannot parse "x"'):
        parameters.duration_ms("step")


def test_a_limit_of_zero_is_none() -> None:
    assert Parameters({"limit": ["0"]}).limit() is None
    assert Parameters({}).limit() is None
    assert Parameters({"limit": ["7"]}).limit() == 7


@pytest.mark.parametrize("text", ["rate(x[1m])", "x[5m]", "x offset 1m", "1", '"x"'])
def test_only_a_plain_selector_selects_series(text: str) -> None:
    with pytest.raises(QueryParseError, match="is not a series selector"):
        parse_selector(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("job", "job"),
        ("__name__", "__name__"),
        ("U__service_2e_name", "service.name"),
        ("U__a__b", "a_b"),
        ("U___6e29_", "\u6e29"),
        ("U__not escaped", "U__not escaped"),
        ("U___ffffffff_", "U___ffffffff_"),
    ],
)
def test_label_names_in_addresses(name: str, expected: str) -> None:
    assert unescape_label(name) == expected


def parameters_of(method: str, query: str, form: str = "") -> Parameters:
    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": form.encode(), "more_body": False}

    scope: dict[str, Any] = {"type": "http", "method": method, "query_string": query.encode(), "headers": []}
    return asyncio.run(read_parameters(Request(scope, receive)))


def test_a_value_of_address_and_form_counts_once() -> None:
    query, form = urlencode([("match[]", "b"), ("match[]", "a")]), urlencode([("match[]", "a"), ("step", "1")])
    found = parameters_of("POST", query, form)
    assert (found.texts("match[]"), found.text("step")) == (["a", "b"], "1")


def test_more_parameters_than_anybody_writes_are_refused() -> None:
    many = urlencode([("match[]", str(n)) for n in range(1_001)])
    assert len(parameters_of("GET", many.rpartition("&")[0]).texts("match[]")) == 1_000
    with pytest.raises(InvalidParameterError, match="at most 1000"):
        parameters_of("GET", many)
    with pytest.raises(InvalidParameterError, match="form cannot be read"):
        parameters_of("POST", "", many)


@pytest.mark.parametrize("text", ["9" * 60_000 + "x", "9" * 60_000, "1" * 5_000 + "y", "." * 60_000, "1w" * 30_000])
def test_numbers_of_any_length_are_read_at_once(text: str) -> None:
    # The first would need a minute in which nothing else runs, the third was a mistake of the server.
    assert parse_time(text) is None
    assert parse_seconds(text) is None


def test_selectors_and_parameters_are_counted() -> None:
    with pytest.raises(InvalidParameterError, match="101 selectors; at most 100"):
        Parameters({"match[]": ["up"] * 101}).matchers()
