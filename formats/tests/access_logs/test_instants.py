import pytest
from loadwatch_formats.access_logs.figures import instant_of, span_of


@pytest.mark.parametrize(
    "text",
    [
        "23/Nov/2026:10:00:00 +0900",
        "[23/Nov/2026:10:00:00 +0900]",
        "2026-11-23T10:00:00+09:00",
        "2026-11-23T01:00:00.000Z",
        "1795395600",
        "1795395600.000",
        "1795395600000",
        "1795395600000000",
        "1795395600000000000",
    ],
)
def test_one_moment_in_many_forms(text: str) -> None:
    assert instant_of(text) == 1_795_395_600_000


def test_fractions_count() -> None:
    assert instant_of("1795395600.25") == instant_of("2026-11-23T01:00:00.25Z") == 1_795_395_600_250
    assert instant_of("23/Nov/2026:10:00:00.250 +0900") == 1_795_395_600_250


@pytest.mark.parametrize(
    "text", ["", "-", "soon", "2026-11-23T10:00:00", "23/Foo/2026:10:00:00 +0900", "31/Feb/2026:10:00:00 +0900", "-5"]
)
def test_what_is_no_moment(text: str) -> None:
    assert instant_of(text) is None


def test_the_span_of_several() -> None:
    assert span_of(["1795395601", "-", "1795395600"]) == (1_795_395_600_000, 1_795_395_601_000)
    assert span_of(["-"]) is None
