import pytest
from loadwatch_backend.access.sign_in.sign_in import seal, unseal

KEY = b"k" * 32


def test_a_document_comes_back_until_its_end():
    value = seal(KEY, "flow", {"state": "ä"}, 1_000)
    assert unseal(KEY, "flow", value, 999) == {"state": "ä"}
    assert unseal(KEY, "flow", value, 1_000) is None


def test_another_key_or_purpose_opens_nothing():
    value = seal(KEY, "flow", {"state": "x"}, 1_000)
    assert unseal(b"other", "flow", value, 0) is None
    assert unseal(KEY, "device", value, 0) is None


@pytest.mark.parametrize("value", ["", ".", "a.b", "é.b", "a.é", "x" * 9_999])
def test_garbage_is_no_document(value: str):
    assert unseal(KEY, "flow", value, 0) is None


def test_a_change_of_any_character_breaks_it():
    value = seal(KEY, "flow", {"state": "x"}, 1_000)
    for index, sign in enumerate(value):
        forged = value[:index] + ("b" if sign != "b" else "c") + value[index + 1 :]
        assert unseal(KEY, "flow", forged, 0) is None
