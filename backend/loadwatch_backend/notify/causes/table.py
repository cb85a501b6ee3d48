"""Which findings the alerts of the default rules are about. Data; a test holds it to the rules, each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RAISED = "FindingRaised"
"""The rule for findings that no other rule is about; its alerts have the finding's id as a label."""
ID_LABEL = "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What an alert has to do with findings, by their ids.

    Attributes:
        tells: who is told of the alert is told of this; where it stands, the rule finds it as well.
        may_tell: the same, but the finding may stand without the alert.
        follows: what explains the alert, beside what the findings that it tells of follow from.
    """

    tells: Sequence[str] = ()
    may_tell: Sequence[str] = ()
    follows: Sequence[str] = ()

    @property
    def about(self) -> Sequence[str]:
        """All that it tells of."""
        return (*self.tells, *self.may_tell)


_DATABASE = (
    "database-connections-exhausted",
    "connections-refused",
    "clients-locked-out",
    "database-cpu-full",
    "database-lock-waits",
    "database-storage-full",
    "database-iops-full",
)
_APPLICATION = (
    "pool-exhausted",
    "pool-per-request",
    "file-descriptors-exhausted",
    "accept-queue-full",
    "ephemeral-ports-exhausted",
    "app-lock-stall",
    "app-cpu-full",
    "one-core-busy",
    "container-throttled",
    "network-capped",
    "process-died",
)
_LIMITS = (*_DATABASE, *_APPLICATION, "queue-full")
_DIALS = ("keep-alive-off", "pool-churn", "pool-lifetime-churn", "pool-per-request")
_BEHIND = (*_DATABASE, "pool-exhausted", "file-descriptors-exhausted", "app-lock-stall", "queue-full", "process-died")

ALERTS: Mapping[str, Explained] = {
    # The pool.
    "PoolSaturated": Explained(tells=("pool-exhausted",), follows=_DATABASE),
    "PoolWaits": Explained(tells=("pool-exhausted",), follows=_DATABASE),
    "PoolWaitLong": Explained(tells=("pool-exhausted",), follows=_DATABASE),
    "PoolChurn": Explained(tells=("pool-churn",)),
    "PoolPerRequest": Explained(tells=("pool-per-request",)),
    # The database.
    "DatabaseConnectionsHigh": Explained(
        tells=("database-connections-exhausted",), may_tell=("pool-unlimited", "pool-exceeds-server")
    ),
    "DatabaseConnectionsRefused": Explained(
        tells=("database-connections-exhausted", "connections-refused", "clients-locked-out")
    ),
    "DatabaseClientsAborted": Explained(may_tell=("cancel-storm",)),
    "DatabaseCpuHigh": Explained(tells=("database-cpu-full",), follows=("database-lock-waits",)),
    "DatabaseThreadsRunningHigh": Explained(
        follows=("database-cpu-full", "database-lock-waits", "database-iops-full", "database-storage-full")
    ),
    "DatabaseRowLockWaits": Explained(tells=("database-lock-waits",), may_tell=("database-deadlocks",)),
    "DatabaseReplicationLag": Explained(tells=("replica-lag",)),
    "RdsConnectionsHigh": Explained(tells=("database-connections-exhausted",)),
    "RdsIopsHigh": Explained(tells=("database-iops-full",)),
    "RdsLoadHigh": Explained(may_tell=("database-cpu-full",), follows=("database-lock-waits", "database-iops-full")),
    "RdsMemoryLow": Explained(tells=("database-memory-low",)),
    "RdsStorageLow": Explained(may_tell=("database-storage-full",)),
    # Processes and sockets.
    "FileDescriptorsHigh": Explained(tells=("file-descriptors-exhausted",), follows=("keep-alive-off",)),
    "AcceptErrors": Explained(may_tell=("file-descriptors-exhausted",)),
    "AcceptQueueFull": Explained(tells=("accept-queue-full",), follows=("file-descriptors-exhausted",)),
    "AcceptQueueStanding": Explained(may_tell=("accept-queue-full",), follows=("file-descriptors-exhausted",)),
    "ListenOverflows": Explained(may_tell=("accept-queue-full",), follows=("file-descriptors-exhausted",)),
    "TimeWaitHigh": Explained(tells=("time-wait-buildup",), follows=_DIALS),
    "TimeWaitOverflow": Explained(tells=("time-wait-overflow",), follows=_DIALS),
    "EphemeralPortsHigh": Explained(tells=("ephemeral-ports-exhausted",), follows=_DIALS),
    "IdleTimeoutBelowBalancer": Explained(may_tell=("timeouts-out-of-order",)),
    # The host.
    "HostCpuHigh": Explained(may_tell=("app-cpu-full", "database-cpu-full")),
    "HostCpuStolen": Explained(may_tell=("host-noise",)),
    "HostDiskBusy": Explained(may_tell=("database-iops-full",)),
    "HostDiskFull": Explained(may_tell=("database-storage-full",)),
    "HostLinkSaturated": Explained(may_tell=("network-capped",)),
    "HostMemoryHigh": Explained(may_tell=("host-memory-growing",)),
    "HostSwapping": Explained(tells=("host-swapping",)),
    "HostOutOfMemoryKill": Explained(may_tell=("process-died",)),
    "ServiceCpuHigh": Explained(may_tell=("app-cpu-full", "container-throttled")),
    "ServiceTasksMissing": Explained(may_tell=("process-died",)),
    "TargetsUnhealthy": Explained(may_tell=("process-died",), follows=_LIMITS),
    # From request to row.
    "IngestLagHigh": Explained(tells=("ingest-lag-growing",), follows=_BEHIND),
    "IngestLagGrowing": Explained(tells=("ingest-lag-growing",), follows=_BEHIND),
    "IngestFallingBehind": Explained(tells=("ingest-lag-growing",), follows=_BEHIND),
    "IngestQueueHigh": Explained(tells=("queue-full",), follows=_BEHIND),
    "IngestRejecting": Explained(may_tell=("queue-full",), follows=_BEHIND),
    "IngestRowsLost": Explained(tells=("rows-lost",), may_tell=("rows-lost-at-kill",)),
    "IngestStalled": Explained(follows=_BEHIND),
    "IngestFailing": Explained(follows=_BEHIND),
    "ProbeLagHigh": Explained(follows=(*_BEHIND, "ingest-lag-growing")),
    "ProbeFailing": Explained(follows=_LIMITS),
    "TableNotFresh": Explained(follows=(*_BEHIND, "ingest-lag-growing")),
    # The load.
    "LoadErrorRateHigh": Explained(follows=_LIMITS),
    "LoadTimeouts": Explained(follows=_LIMITS),
    "LoadServerErrors": Explained(follows=_LIMITS),
    "LoadConnectionsFailing": Explained(follows=_LIMITS),
    "LoadBelowTarget": Explained(may_tell=("generator-saturated",), follows=_LIMITS),
    "BalancerErrors": Explained(follows=_LIMITS),
    "GeneratorSaturated": Explained(tells=("generator-saturated",)),
    "GeneratorDropsIterations": Explained(may_tell=("generator-saturated", "coordinated-omission")),
}

_ITSELF = "about Loadwatch and who watches: findings are about what is watched"
_CREDIT = "a credit that runs low, before a limit is full"
_OTHER = "a kind of resource that no finding is about"

UNMAPPED: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "AgentDroppingSamples",
            "AgentSilent",
            "AgentSpoolNotWritable",
            "AgentsOverlap",
            "ClockSkew",
            "CollectorDown",
            "LoadwatchEngineBehind",
            "LoadwatchEvaluationsMissed",
            "LoadwatchNotificationsLost",
            "LoadwatchNotificationsWaiting",
            "LoadwatchRefusesSamples",
            "LoadwatchRulesFailing",
            "LoadwatchStoreDamaged",
            "LoadwatchStoreFailing",
            "SenderClockAhead",
        ),
        _ITSELF,
    ),
    **dict.fromkeys(("BurstBalanceLow", "CpuCreditsLow"), _CREDIT),
    **dict.fromkeys(
        (
            "AttachedVolumeFailing",
            "CacheEngineCpuHigh",
            "CacheMemoryHigh",
            "CacheNetworkLimited",
            "FunctionThrottled",
            "HostFileHandlesHigh",
            "NatPacketsDropped",
            "NatPortsExhausted",
            "QueueAgeHigh",
            "RdsProxyBorrowSlow",
            "RdsProxyConnectionsHigh",
            "ServiceMemoryHigh",
        ),
        _OTHER,
    ),
    "DatabaseDown": "a database that does not answer is the cause; nothing is to hold it back",
    "DatabaseRestarted": "an event, for whoever reads the page",
}
"""Default rules that no finding explains and that tell of none, each with the reason."""

COVERED: Sequence[str] = tuple(dict.fromkeys(id for one in ALERTS.values() for id in one.tells))
"""Findings that some other default rule tells of; `FindingRaised` leaves them to it."""


def explained(labels: Mapping[str, str]) -> Explained | None:
    """What an alert with these labels has to do with findings; None where nobody has said it."""
    name = labels.get("alertname", "")
    if name != RAISED:
        return ALERTS.get(name)
    return Explained(tells=(labels.get(ID_LABEL, ""),))
