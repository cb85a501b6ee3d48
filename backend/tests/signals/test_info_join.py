import numpy as np
from loadwatch_backend.catalogue.signals.late import join_info
from loadwatch_backend.catalogue.signals.model import InfoJoin

ROLES = InfoJoin(info="aws_rds_info", on=("name",), take=("role", "cluster"))
NAN = np.nan


def bits(*rows: str) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.array([[sign == "x" for sign in row] for row in rows])


def instance(name: str) -> dict[str, str]:
    return {"name": name}


def info(name: str, role: str, **more: str) -> dict[str, str]:
    return {"name": name, "role": role, "cluster": "shop", **more}


def test_a_failover_moves_the_lines_at_its_time():
    values = np.array([[1.0, 2, 3, 4], [5, 6, 7, 8]])
    labels, found = join_info(
        ROLES,
        [instance("a"), instance("b")],
        values,
        [info("a", "writer"), info("a", "reader"), info("b", "reader"), info("b", "writer")],
        bits("xx..", "..xx", "xx..", "..xx"),
    )
    assert [(one["name"], one["role"]) for one in labels] == [
        *(("a", "writer"), ("a", "reader"), ("b", "reader"), ("b", "writer"))
    ]
    np.testing.assert_array_equal(found, [[1, 2, NAN, NAN], [NAN, NAN, 3, 4], [5, 6, NAN, NAN], [NAN, NAN, 7, 8]])


def test_of_two_facts_at_once_the_later_one_holds():
    labels, found = join_info(
        ROLES,
        [instance("a")],
        np.array([[1.0, 2, 3]]),
        [info("a", "writer"), info("a", "reader")],
        bits("xxx", ".xx"),
    )
    assert [one["role"] for one in labels] == ["writer", "reader"]
    np.testing.assert_array_equal(found, [[1, NAN, NAN], [NAN, 2, 3]])


def test_times_without_facts_take_those_before_and_the_first_ones_after():
    labels, found = join_info(ROLES, [instance("a")], np.array([[1.0, 2, 3, 4]]), [info("a", "writer")], bits(".x.."))
    assert labels == [{"name": "a", "role": "writer", "cluster": "shop"}]
    np.testing.assert_array_equal(found, [[1, 2, 3, 4]])


def test_facts_that_differ_in_other_labels_are_the_same_line():
    labels, found = join_info(
        ROLES,
        [instance("a")],
        np.array([[1.0, 2]]),
        [info("a", "writer", parameter_status="in-sync"), info("a", "writer", parameter_status="pending-reboot")],
        bits("x.", ".x"),
    )
    assert len(labels) == 1
    np.testing.assert_array_equal(found, [[1, 2]])


def test_a_series_without_facts_stays_as_it_is():
    labels, found = join_info(ROLES, [instance("a"), instance("b")], np.array([[1.0], [2]]), [info("b", "")], bits("."))
    assert labels == [{"name": "a"}, {"name": "b"}]
    np.testing.assert_array_equal(found, [[1], [2]])
    labels, found = join_info(ROLES, [], np.empty((0, 3)), [], np.empty((0, 3), np.bool_))
    assert labels == []
    assert found.shape == (0, 3)
