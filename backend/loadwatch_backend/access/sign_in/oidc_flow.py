"""One sign-in at a provider under way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The secrets of one sign-in under way."""

    state: str
    nonce: str
    verifier: str
