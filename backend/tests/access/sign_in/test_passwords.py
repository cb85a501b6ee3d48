import pytest
from argon2 import PasswordHasher
from loadwatch_backend.access.sign_in.passwords import Passwords, WeakPasswordError, check_strength, nobodys_hash


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "password1234",
        "Password123!",
        "PASSWORDPASSWORD",
        "123456789012",
        "qwertyuiop12",
        "1qaz2wsx3edc",
        "abcdefghijkl",
        "aaaaaaaaaaaaaaaa",
        "abababababab",
        "christopher1!",
        "iloveyou2024!!!",
        "correct horse battery staple",
        "ｐａｓｓｗｏｒｄ１２３４",
    ],
)
def test_what_guessers_try_first_is_refused(password: str):
    with pytest.raises(WeakPasswordError) as refused:
        check_strength(password, "Christopher")
    assert password not in refused.value.detail


@pytest.mark.parametrize("password", ["four random words here", "Xk9!vQ2#pL7$", "葵と海と山と川と空と星の夜"])
def test_others_are_taken(password: str):
    check_strength(password, "christopher")


def test_a_password_is_kept_as_argon2id_with_owasp_parameters():
    passwords = Passwords()
    kept = passwords.hash("four random words here")
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert passwords.hash("four random words here") != kept
    assert passwords.matches("four random words here", kept)
    assert not passwords.matches("four random words her", kept)
    assert not passwords.matches("nobody has this password", None)
    assert not passwords.matches("x", "no hash at all")


def test_the_same_keys_give_the_same_password():
    passwords = Passwords()
    assert passwords.matches("caf\u00e9 au lait xyz", passwords.hash("cafe\u0301 au lait xyz"))


def test_other_parameters_are_outdated():
    old = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash("x")
    passwords = Passwords()
    assert passwords.is_outdated(old)
    assert not passwords.is_outdated(passwords.hash("x"))


def test_who_does_not_exist_is_checked_with_as_much_work_as_others() -> None:
    hasher = PasswordHasher(time_cost=3, memory_cost=64, parallelism=2, hash_len=24, salt_len=12)
    for one in (hasher, PasswordHasher()):
        assert not one.check_needs_rehash(nobodys_hash(one))
