"""Who sends which series: limits for one sender, so that it cannot use up what is there for all.

A series counts as active for the sender that sent it last, for an hour. For each series of the store there are four
bytes; what is counted from them is counted when a sender adds series, and when somebody looks.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MINUTE_MS = 60_000
ACTIVE_MINUTES = 60
MOST_SENDERS = 200
"""Senders that are told apart; what comes from any other shares one account."""
OTHERS = "(others)"
_NAME_CHARACTERS = 100

Ids = npt.NDArray[np.int64]


class Sender(NamedTuple):
    """Whose limits hold, and the only jobs that it may send samples of; without any: all."""

    name: str = ""
    jobs: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Account:
    number: int
    seen_minute: int = 0
    new_by_minute: Counter[int] = field(default_factory=Counter[int])
    refused_total: int = 0

    def new_since(self, minute: int) -> int:
        """Series that were new after a minute; forgets those before."""
        for old in [one for one in self.new_by_minute if one <= minute]:
            del self.new_by_minute[old]
        return self.new_by_minute.total()


class Admission(NamedTuple):
    """How many of some new series may be made; `problem` says why not all of them, `active` which limit it is."""

    series: int
    problem: str = ""
    active: bool = False


class SenderFigures(NamedTuple):
    active_series: int
    new_series: int
    refused_total: int


class Senders:
    """Safe to use from any thread."""

    def __init__(self, *, most_active: int, most_new: int) -> None:
        """`most_active` series of a sender at once, `most_new` new ones of it within an hour."""
        self._most_active = most_active
        self._most_new = most_new
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {OTHERS: _Account(0)}
        self._owner = np.zeros(1024, np.uint16)
        self._minute = np.zeros(1024, np.uint32)

    def note(self, sender: str, series: Ids, now_ms: int) -> None:
        """Notes that series came from a sender; `series` may hold repeats."""
        if not len(series):
            return
        minute = now_ms // MINUTE_MS
        with self._lock:
            account = self._account(sender, minute)
            highest = int(series.max())
            if highest >= len(self._owner):
                size = max(highest + 1, 2 * len(self._owner))
                self._owner = np.concatenate([self._owner, np.zeros(size - len(self._owner), np.uint16)])
                self._minute = np.concatenate([self._minute, np.zeros(size - len(self._minute), np.uint32)])
            self._owner[series] = account.number
            self._minute[series] = minute

    def admit(self, sender: str, wanted: int, now_ms: int) -> Admission:
        """Take so many new series onto its account, as far as its limits allow."""
        minute = now_ms // MINUTE_MS
        with self._lock:
            account = self._account(sender, minute)
            new = account.new_since(minute - ACTIVE_MINUTES)
            active = self._active(account, minute)
            left_new, left_active = max(self._most_new - new, 0), max(self._most_active - active, 0)
            taken = min(wanted, left_new, left_active)
            if taken:
                account.new_by_minute[minute] += taken
        if taken == wanted:
            return Admission(series=taken)
        if left_active <= left_new:
            problem = (
                f"{sender} has {active} active series, and a sender may have {self._most_active}: series that are new"
                " are refused until others have not been sent for an hour; remove labels that change often, or raise"
                " LOADWATCH_STORE_SERIES_LIMIT, of which a sender may have two fifths"
            )
            return Admission(series=taken, problem=problem, active=True)
        problem = (
            f"{sender} has sent {new} new series within an hour, and {self._most_new} may be new: remove labels that"
            " change often, or raise LOADWATCH_STORE_SERIES_LIMIT, of which a sender may add two fifths an hour"
        )
        return Admission(series=taken, problem=problem)

    def take_back(self, sender: str, series: int, now_ms: int) -> None:
        minute = now_ms // MINUTE_MS
        with self._lock:
            by_minute = self._account(sender, minute).new_by_minute
            by_minute[minute] = max(by_minute[minute] - series, 0)

    def refuse(self, sender: str, samples: int, now_ms: int) -> None:
        with self._lock:
            self._account(sender, now_ms // MINUTE_MS).refused_total += samples

    def figures(self, now_ms: int) -> Mapping[str, SenderFigures]:
        minute = now_ms // MINUTE_MS
        with self._lock:
            return {
                name: SenderFigures(
                    self._active(one, minute), one.new_since(minute - ACTIVE_MINUTES), one.refused_total
                )
                for name, one in self._accounts.items()
                if one.seen_minute
            }

    def _active(self, account: _Account, minute: int) -> int:
        recent = self._minute > max(minute - ACTIVE_MINUTES, 0)
        return int(np.count_nonzero(recent & (self._owner == account.number)))

    def _account(self, sender: str, minute: int) -> _Account:
        name = sender[:_NAME_CHARACTERS]
        account = self._accounts.get(name)
        if account is None:
            account = self._open(name, minute)
        account.seen_minute = minute
        return account

    def _open(self, name: str, minute: int) -> _Account:
        """A new account, that of a sender who has not been heard for an hour, or the one of all others."""
        if len(self._accounts) <= MOST_SENDERS:
            number = len(self._accounts)
        else:
            oldest = min(
                (one for one in self._accounts if one != OTHERS), key=lambda one: self._accounts[one].seen_minute
            )
            if minute - self._accounts[oldest].seen_minute <= ACTIVE_MINUTES:
                return self._accounts[OTHERS]
            number = self._accounts.pop(oldest).number
        account = self._accounts[name] = _Account(number)
        return account
