"""Documents of the timeouts endpoint."""

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.timeouts.model import Kind, Layer, OrderSeverity, OrderVerdict, Origin


class SaidOut(Schema):
    """Where a value is known from."""

    origin: Origin
    field: str = Field(description="What was read: a key of loadwatch.yml, or a metric.")


class RungOut(Schema):
    """One value of one timeout."""

    id: str
    layer: Layer
    kind: Kind
    title: str
    seconds: float | None = Field(description="Null: there is no limit.")
    at_least: bool = Field(description="The timeout is longer than this: a probe waited that long in vain.")
    text: str = Field(description="The value in words.")
    in_force: bool = Field(description="False where a measurement at the same place says otherwise.")
    said: list[SaidOut]
    names: list[str] = Field(description="Instances, load balancers or pools that the value belongs to.")
    last_ms: Milliseconds


class MissingTimeoutOut(Schema):
    """A timeout that is not known, and how to tell it."""

    layer: Layer
    kind: Kind
    title: str
    hint: str


class LayerOut(Schema):
    """One layer of the path, in the order in which a request passes them."""

    layer: Layer
    title: str
    rungs: list[RungOut]
    missing: list[MissingTimeoutOut]


class CheckOut(Schema):
    """One rule looked at: which timeout should end before which, and what happens otherwise."""

    rule: str
    severity: OrderSeverity = Field(description="What a wrong order costs: failed requests (error), or less (notice).")
    verdict: OrderVerdict
    title: str = Field(description="What should hold.")
    consequence: str = Field(description="What happens where it does not; empty unless the verdict is wrong.")
    remedy: str = Field(description="What to change; empty unless the verdict is wrong.")
    reference: str = Field(description="Address of the source of the rule; may be empty.")
    shorter: str | None = Field(description="Rung that should end first.")
    longer: str | None = Field(description="Rung that should end later.")
    missing: list[MissingTimeoutOut] = Field(description="What has to be known first.")


class LadderOut(Schema):
    """The timeouts of one path from client to database."""

    job: str = Field(description="Empty where no target has a timeouts block and only discovered values are known.")
    direct: bool = Field(description="Clients reach the application without a load balancer.")
    layers: list[LayerOut]
    checks: list[CheckOut] = Field(description="What is wrong first, then what cannot be told, then what is right.")


class TimeoutsOut(Schema):
    """Every ladder."""

    at_ms: Milliseconds
    ladders: list[LadderOut]
