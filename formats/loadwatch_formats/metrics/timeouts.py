"""What the collector `timeouts` sends."""

from loadwatch_formats.metrics.model import describe

GIVEN = "timeout_seconds"
LONGER = "timeout_longer_than_seconds"
PATH = "timeout_path_info"

METRICS = describe(
    timeout_seconds="A timeout of a layer that requests pass, by kind and by where it is known from: "
    "configuration, runtime (follows from the configuration by the runtime's rules), or probe (measured). "
    "+Inf: there is no limit.",
    timeout_longer_than_seconds="A timeout that did not end a probe's connection in this time; the probe waits no "
    "longer.",
    timeout_path_info="Which load balancer (or none) and which database belong to this target's ladder of timeouts.",
    timeout_probe_success="0 when a timeout could not be measured.",
    timeout_probe_error_info="1 while a timeout cannot be measured, and why.",
)
