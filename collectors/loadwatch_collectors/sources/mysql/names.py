"""Rows of SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES as samples: which are shown, and what their texts stand for."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from loadwatch_formats.metrics.mysql import VARIABLES, status_series

from loadwatch_collectors.collector import Labels, Sample

_CHOSEN = frozenset(VARIABLES)

TEXT_VARIABLES = (
    *("aurora_server_id", "aurora_version", "basedir", "innodb_version", "transaction_isolation", "tx_isolation"),
    *("version", "version_comment"),
)
"""Variables whose text says what the server is."""

_NEVER_SHOWN = frozenset(
    "init_connect init_replica init_slave last_gtid report_password report_user timestamp wsrep_sst_auth".split()
)
"""Variables that may hold a secret, or that differ at each look."""
_NEVER_SHOWN_PREFIXES = ("gtid_", "rand_seed", "pseudo_", "wsrep_last_")
_LONGEST_VALUE = 200

_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_WORDS: Mapping[str, float] = {
    "on": 1.0,
    "yes": 1.0,
    "off": 0.0,
    "no": 0.0,
    "disabled": 0.0,
    "connecting": 0.0,
    "primary": 1.0,
    "non-primary": 0.0,
    "disconnected": 0.0,
}
_TIME = "%b %d %H:%M:%S %Y GMT"

_KNOWN: dict[str, tuple[str, Labels] | None] = {}
_MOST_KNOWN = 5000


def parse_number(text: str | None) -> float | None:
    """The number that a variable's text stands for; None when it stands for none. Times are seconds since the epoch."""
    if not text:
        return None
    first = text[0]
    if first.isdecimal() or first == "-":
        try:
            return float(text) if "_" not in text else None
        except ValueError:
            return None
    word = _WORDS.get(text.lower())
    if word is None and text.endswith(" GMT"):
        try:
            return datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return None
    return word


def status_samples(rows: Iterable[tuple[str | None, ...]]) -> list[Sample]:
    """The samples of `SHOW GLOBAL STATUS`; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in rows:
        value = parse_number(text)
        if value is None or name is None:
            continue
        if name not in _KNOWN:
            if len(_KNOWN) > _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[name] = status_series(name)
        series = _KNOWN[name]
        if series is not None:
            samples.append(Sample(series[0], value, series[1]))
    return samples


def variable_samples(variables: Mapping[str, str]) -> list[Sample]:
    """The samples of `SHOW GLOBAL VARIABLES`, names in lower case; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in variables.items():
        value = parse_number(text)
        if value is not None:
            samples.append(Sample(f"mysql_global_variables_{_NOT_A_NAME.sub('_', name)}", value))
    return samples


def other_variable_samples(variables: Mapping[str, str], *, all_numbers: bool) -> list[Sample]:
    """`mysql_global_variables_info` of the variables that `variable_samples` leaves out, names in lower case.

    Args:
        variables: all of `SHOW GLOBAL VARIABLES`; those without a value are left out.
        all_numbers: whether every number has a metric of its own, not only the chosen ones.
    """
    samples: list[Sample] = []
    for name, text in variables.items():
        if not text or name in _NEVER_SHOWN or name.startswith(_NEVER_SHOWN_PREFIXES):
            continue
        if (all_numbers or name in _CHOSEN) and parse_number(text) is not None:
            continue
        value = text.encode()[:_LONGEST_VALUE].decode(errors="ignore")
        samples.append(Sample("mysql_global_variables_info", 1.0, (("value", value), ("variable", name))))
    return samples
