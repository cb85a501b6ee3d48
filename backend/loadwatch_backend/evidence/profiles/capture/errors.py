"""What orders for profiles can refuse, and why.

ProblemError
├── NotFoundError
│   └── ProfileOrderNotFoundError   404
├── InvalidError
│   └── ProfileOrderRuleError       422
└── LimitError
    └── ProfileOrderLimitError      422, the run has as many orders as it may
"""

from loadwatch_backend.kit.errors import InvalidError, LimitError, NotFoundError


class ProfileOrderNotFoundError(NotFoundError):
    """There is no such order, or it is not this agent's any more."""

    code = "profile-order-not-found"


class ProfileOrderRuleError(InvalidError):
    """No profile can be taken that way."""

    code = "profile-order-rule"


class ProfileOrderLimitError(LimitError):
    """A run has as many orders as it may."""

    code = "profile-order-limit"
