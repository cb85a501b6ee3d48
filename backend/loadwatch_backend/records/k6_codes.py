"""What k6's tag `error_code` tells (lib/netext/httpext/error_codes.go), for its files and its remote write alike."""

from collections.abc import Mapping

from loadwatch_backend.records.model import Outcome

K6_KINDS: Mapping[str, Outcome] = {
    "1050": Outcome.TIMEOUT,
    "1211": Outcome.TIMEOUT,
    "1100": Outcome.DNS,
    "1101": Outcome.DNS,
    "1201": Outcome.RESET,
    "1212": Outcome.REFUSED,
    "1220": Outcome.RESET,
}


def outcome_of_code(code: str) -> Outcome | None:
    """None where the code alone does not tell; 1610 to 1665 are HTTP/2's, which are resets."""
    if len(code) == 4 and "1610" <= code <= "1665":
        return Outcome.RESET
    return K6_KINDS.get(code)
