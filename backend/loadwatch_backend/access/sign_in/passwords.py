"""Passwords: which are good enough, and how they are kept.

Argon2id with the parameters of OWASP's Password Storage Cheat Sheet (19 MiB, 2 passes, 1 lane). Each check takes that
memory, so only a few run at once.

Chosen by hand from what leaks show again and again; in lower case.
"""

import threading
import unicodedata
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from loadwatch_backend.core.errors import InvalidError, UnavailableError

COMMON = frozenset(
    """
    password passw0rd p@ssword p@ssw0rd pa$$word password1 passwordpassword mypassword mypasswordis yourpassword
    thisismypassword changeme changemenow changeit changethis changeme123 letmein letmeinnow letmeinplease welcome
    welcomehome welcome1 administrator admin adminadmin adminadminadmin administrador rootroot rootrootroot superuser
    superadmin superman batman iloveyou iloveyouso iloveyou1 ilovemyself trustno1 monkey dragon football baseball
    basketball sunshine princess shadow master masterkey michael jennifer liverpool chelsea manchester
    manchesterunited arsenal starwars pokemon whatever computer internet secret secretpassword topsecret supersecret
    temporary temporarypassword temppassword default defaultpassword testtest testtesttest testpassword guestguest
    guestguestguest useruser useruseruser companyname company qwerty qwertyqwerty qwertyuiop asdfghjkl zxcvbnm
    azertyuiop abc123abc123 a1b2c3d4e5f6 correcthorsebatterystaple correct horse battery staple
    correct-horse-battery-staple loadwatch loadwatchadmin loadwatch-admin grafana prometheus monitoring observability
    mysqlpassword databasepassword
    """.split()
) | {"correct horse battery staple", "let me in please", "thisisapassword", "this is my password"}

_ROWS = (
    "1234567890",
    "0987654321",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfedcba",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
    "qazwsxedcrfvtgbyhnujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "1234567890qwertyuiop",
    "qwertyuiop1234567890",
    "1234qwerasdfzxcv",
    "qwerasdfzxcv1234",
    "0123456789",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "0123456789abcdefghijklmnopqrstuvwxyz",
)
SEQUENCES = tuple(row * 4 for row in _ROWS)
"""Rows of keys, repeated; a password that lies in one is no password."""


_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
LEAST_LENGTH = 12
AT_ONCE = 2
_VERSION = 0x13
"""Version of Argon2, by RFC 9106."""
WAIT_SECONDS = 10.0


class WeakPasswordError(InvalidError, code="weak-password", title="Weak password"):
    """The password is too easy to guess."""


class BusyError(UnavailableError, code="login-busy", title="Too many sign-ins at once"):
    """Too many passwords are being checked."""


def normalise_password(password: str) -> str:
    """The same text for the same keys: accents and full-width letters can be typed in two ways (NFKC, NIST 800-63B)."""
    return unicodedata.normalize("NFKC", password)


def check_strength(password: str, name: str) -> None:
    """Refuse what guessers try first.

    Raises:
        WeakPasswordError: says what is wrong with it; never holds the password.
    """
    text = normalise_password(password).casefold()
    if len(text) < LEAST_LENGTH:
        raise WeakPasswordError(f"A password needs at least {LEAST_LENGTH} characters; four random words are good.")
    plain = text.strip()
    bare = plain.rstrip("0123456789!?.@#$%*_- ")
    if plain in COMMON or bare in COMMON:
        raise WeakPasswordError("This is one of the commonest passwords; choose another, such as four random words.")
    if any(plain in sequence for sequence in SEQUENCES) or len(set(plain)) < 4:
        raise WeakPasswordError("This is a row of keys or a repetition; choose another, such as four random words.")
    if name and plain.replace(name.casefold(), "", 1).strip("0123456789!?.@#$%*_- ") == "":
        raise WeakPasswordError("This is little more than the user's name; choose another password.")


def nobodys_hash(hasher: PasswordHasher) -> str:
    """A hash that no password has; checking it for unknown names takes as long as for known ones."""
    salt, digest = (b64encode(bytes(length)).decode().rstrip("=") for length in (hasher.salt_len, hasher.hash_len))
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v={_VERSION}${parameters}${salt}${digest}"


class Passwords:
    """Hashes and checks passwords, a few at a time."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or _HASHER
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._nobody = nobodys_hash(self._hasher)

    def hash(self, password: str) -> str:
        """What is kept of a password: parameters, salt and hash in one text."""
        with self._slot():
            return self._hasher.hash(normalise_password(password))

    def matches(self, password: str, kept: str | None) -> bool:
        """Whether it is the password; with nothing kept the answer is no, after as much work."""
        with self._slot():
            try:
                found = self._hasher.verify(kept or self._nobody, normalise_password(password))
            except (VerificationError, InvalidHashError):
                found = False
        return found and kept is not None

    def is_outdated(self, kept: str) -> bool:
        return self._hasher.check_needs_rehash(kept)

    @contextmanager
    def _slot(self) -> Generator[None]:
        if not self._slots.acquire(timeout=WAIT_SECONDS):
            raise BusyError("Too many people sign in at once; try again in a few seconds.")
        try:
            yield
        finally:
            self._slots.release()
