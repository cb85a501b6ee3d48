"""Which findings alerts are about, as their rules say it in the annotations `loadwatch_finding` and `loadwatch_cause`.

`loadwatch_finding: a, b?` tells of `a` wherever that stands, and of `b`, which may stand without the alert; `none` says
that no finding is about it. Findings of `loadwatch_cause` explain an alert, beside what its own follow from.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from loadwatch_backend.series.store.port import Labels

RAISED = "FindingRaised"
"""The rule for findings that no other rule tells of."""
_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


class Explained(NamedTuple):
    """Ids of findings that an alert tells of, and of those that it follows from."""

    about: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()


Said = Mapping[str, tuple[str, str]]
"""Both annotations, by the rule's name."""
Explain = Callable[[Labels], Explained | None]
"""What the rule of an alert says, by the alert's labels; None of a rule that says nothing."""


def explained_by(said_now: Callable[[], Said]) -> Explain:
    """By what the rules in force say."""

    def explained(labels: Labels) -> Explained | None:
        said = said_now().get(labels.get("alertname", ""))
        return said and _read(*(_LABEL.sub(lambda found: labels.get(found[1], ""), text) for text in said))

    return explained


@lru_cache(maxsize=4_096)
def _read(finding: str, cause: str) -> Explained:
    return Explained(tuple(one.removesuffix("?") for one in _ids(finding)), tuple(_ids(cause)))


def rules_by_finding(said: Said) -> Mapping[str, str]:
    """The rule that tells of a finding wherever that stands, by the finding's id."""
    found: dict[str, str] = {}
    for name, (finding, _) in said.items():
        for id in _ids(finding):
            if not id.endswith("?"):
                found.setdefault(id, name)
    return found


def _ids(text: str) -> list[str]:
    return [one for part in text.split(",") if (one := part.strip()) and one != "none"]
