from dataclasses import FrozenInstanceError, asdict

import pytest
from loadwatch_formats.run_facts import FACTS, OPTIONS, RunFields


def test_nothing_said_is_empty_or_unknown():
    empty = asdict(RunFields())
    assert empty == {fact.name: fact.make() for fact in FACTS}
    assert {type(value) for value in empty.values()} == {str, list, dict, type(None)}


def test_facts_do_not_change():
    with pytest.raises(FrozenInstanceError):
        setattr(RunFields(), "name", "other")  # noqa: B010 - to assign is what no type lets pass


def test_options_are_texts_then_several_then_numbers():
    assert [fact.several + 2 * fact.nullable for fact in OPTIONS] == sorted(
        fact.several + 2 * fact.nullable for fact in OPTIONS
    )
    assert all(fact.help and fact.option.startswith("--") for fact in OPTIONS)
