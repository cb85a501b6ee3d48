import pytest
from loadwatch_backend.evidence.profiles.model import ProfileLimitError, UnknownProfileError, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.collapsed import read_collapsed
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import stacks_of, table_of

from backend.tests.evidence.profiles.made import PY_SPY

PERF = b"""swapper;cpu_startup_entry;do_idle_[k] 12
nginx;ngx_worker process cycle;epoll_wait 3
nginx;ngx_worker process cycle;epoll_wait 4
java;Thread::run;com/acme/Cart$Item.add_[j];lambda (a, b) 5\r
"""


def sums(data: bytes) -> dict[str, tuple[int, int]]:
    table = table_of(stacks_of(read_profile(data)))
    return {
        one.name: (int(table.flat[place, 0]), int(table.cum[place, 0])) for place, one in enumerate(table.functions)
    }


def test_lines_of_perf_and_of_java() -> None:
    found = sums(PERF)
    assert found["epoll_wait"] == (7, 7)
    assert found["ngx_worker process cycle"] == (0, 7)
    assert found["lambda (a, b)"] == (5, 5)
    assert found["do_idle_[k]"] == (12, 12)


def test_py_spys_own_output_by_function_and_not_by_line() -> None:
    text = (PY_SPY / "app.collapsed").read_text("utf-8")
    found = sums(text.encode())
    # By hand: the sum of the counts at the ends of the lines in which it stands.
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    assert found["fib (app.py)"][1] == sum(int(count) for stack, count in lines if "fib (app.py:" in stack)
    assert found["fib (app.py)"][0] == sum(
        int(count) for stack, count in lines if stack.split(";")[-1].startswith("fib (app.py:")
    )
    assert read_profile(text.encode()).format == "collapsed"


def test_lines_that_are_no_stacks_are_counted() -> None:
    profile = read_collapsed(b"a;b 3\n# a comment\na;c 4\n\n", ProfileLimits())
    assert int(profile.values.sum()) == 7
    assert profile.notes == ("1 lines are no stacks and are left out.",)


def test_mostly_something_else_is_refused() -> None:
    with pytest.raises(UnreadableProfileError, match="2 of 3 lines are no collapsed stacks"):
        read_collapsed(b"a;b 3\nx\ny\n", ProfileLimits())
    with pytest.raises(UnknownProfileError):
        read_profile(b"ten lines of a poem\n" * 10)


def test_hostile_lines_are_bounded() -> None:
    endless = b"a;b 1\na;c 2\n" + b"x" * 2_000_000 + b" 5\n"
    assert read_collapsed(endless, ProfileLimits()).notes == ("1 lines are no stacks and are left out.",)
    many = b"".join(b"a;f%d 1\n" % number for number in range(30))
    with pytest.raises(ProfileLimitError, match="different frames"):
        read_collapsed(many, ProfileLimits(places=20))
    with pytest.raises(UnreadableProfileError, match="more than any measurement"):
        read_collapsed(b"a;b 999999999999999999\n" * 9, ProfileLimits())
