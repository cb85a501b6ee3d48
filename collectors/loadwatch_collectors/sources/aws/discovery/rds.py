"""RDS and Aurora: roles of instances, and their limit of connections from parameter groups.

Source: "Hardware specifications for DB instance classes" of the RDS User Guide and EC2's DescribeInstanceTypes; a test
compares every family with the copy of the latter that moto brings.

Grammar after "Specifying DB parameters" of the RDS User Guide: numbers, + - * /, parentheses, and the functions
GREATEST, LEAST, SUM and log (base 2, of Aurora). The result is a whole number, rounded down.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.part import GIB, Item, Look, inner, listed
from loadwatch_collectors.sources.aws.discovery.readers import Kind

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(.))")


_FUNCTIONS: Mapping[str, Callable[[list[float]], float]] = {
    "GREATEST": max,
    "LEAST": min,
    "SUM": sum,
    "LOG": lambda values: math.log2(values[0]),
}


class FormulaError(ValueError):
    """A formula that is not understood, or that needs a variable that is not known."""


def evaluate(text: str, variables: Mapping[str, float]) -> int:
    """The whole number that a parameter's text stands for.

    Raises:
        FormulaError: it is not a formula, or a variable is unknown.
    """
    parser = _Parser(text, variables)
    try:
        value = parser.sum()
        if not parser.at_end():
            raise FormulaError(f"{text!r} goes on where its end was expected")
        return math.floor(value)
    except (ArithmeticError, ValueError, RecursionError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"{text!r} has no value") from error


def is_formula(text: str) -> bool:
    """Whether a parameter's text is more than a number."""
    return not re.fullmatch(r"\s*\d+\s*", text)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, float]) -> None:
        self._text = text
        self._variables = variables
        self._tokens = [next(part for part in match.groups() if part is not None) for match in _TOKEN.finditer(text)]
        self._at = 0

    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def sum(self) -> float:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> float:
        value = self._factor()
        while self._peek() in ("*", "/"):
            value = value * self._factor() if self._take() == "*" else value / self._factor()
        return value

    def _factor(self) -> float:
        token = self._take()
        if token == "-":
            return -self._factor()
        if token in ("{", "("):
            value = self.sum()
            self._expect("}" if token == "{" else ")")
            return value
        if token[:1].isdigit():
            return float(token)
        if self._peek() == "(":
            return self._call(token)
        if token not in self._variables:
            raise FormulaError(f"{self._text!r} needs {token or 'more'}, which is not known")
        return self._variables[token]

    def _call(self, name: str) -> float:
        function = _FUNCTIONS.get(name.upper())
        if function is None:
            raise FormulaError(f"{self._text!r} has the unknown function {name}")
        self._expect("(")
        values = [self.sum()]
        while self._peek() == ",":
            self._take()
            values.append(self.sum())
        self._expect(")")
        return function(values)

    def _peek(self) -> str:
        return self._tokens[self._at] if not self.at_end() else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, wanted: str) -> None:
        if self._take() != wanted:
            raise FormulaError(f"{self._text!r} lacks {wanted}")


_GIB_OF_XLARGE: tuple[tuple[str, float], ...] = (
    (r"c\d+g?d?", 8.0),
    (r"m1|m3", 15.0),
    (r"m\d+[a-z-]*", 16.0),
    (r"r3|r4", 30.5),
    (r"r\d+[a-z-]*", 32.0),
    (r"t[2-9]g?", 16.0),
    (r"x1", 61.0),
    (r"x1e", 122.0),
    (r"x2g|x2gd|x2idn|x8g", 64.0),
    (r"x2iedn|x2iezn", 128.0),
    (r"z1d", 32.0),
)
_SIZES = {"nano": 1 / 32, "micro": 1 / 16, "small": 1 / 8, "medium": 1 / 4, "large": 1 / 2, "xlarge": 1.0}
_CLASS = re.compile(r"(?:db\.|cache\.)?([a-z0-9-]+)\.(?:(\d+)xlarge|([a-z]+))(?:\.tpc\d+)?(?:\.mem(\d+)x)?")
_ACU_GIB = 2.0
"""Memory of one Aurora capacity unit."""


def memory_bytes(instance_class: str, *, max_capacity: float | None = None) -> int | None:
    """Memory of a class; None when it is not known.

    `max_capacity` (Aurora capacity units) is what `db.serverless` may grow to: max_connections follows from it.
    It is the whole machine's: RDS keeps some for itself, so `DBInstanceClassMemory` is a little less.
    """
    if instance_class == "db.serverless":
        return round(max_capacity * _ACU_GIB * GIB) if max_capacity else None
    match = _CLASS.fullmatch(instance_class)
    if match is None:
        return None
    family, count, word, times = match.groups()
    share = float(count) if count else _SIZES.get(word)
    gib = next((gib for pattern, gib in _GIB_OF_XLARGE if re.fullmatch(pattern, family)), None)
    if share is None or gib is None:
        return None
    return round(gib * share * GIB * (int(times) if times else 1))


_OTHER_PRODUCTS = frozenset({"docdb", "neptune"})
"""Amazon's other databases whose instances the RDS API lists too; they have namespaces of their own."""
_MIB = 1024**2
_SERVERLESS_LIMIT = 2000
"""Aurora PostgreSQL that may shrink to half a unit or less takes no more connections ("Performance and scaling for
Aurora Serverless v2")."""


def read_rds(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Instances and clusters with their facts; a cluster is chosen by itself, or by one of its instances."""
    clusters = _clusters(look)
    followed: set[str] = set()
    for row in _instances(look, clusters):
        presets = kinds["rds"].choose(look, row)
        if presets:
            followed.add(row.get("DBClusterIdentifier") or "")
            cluster = clusters.get(row.get("DBClusterIdentifier") or "", {})
            yield kinds["rds"].item(look, {**row, **_sizes(row), **_limit(look, row, cluster)}, presets)
    for identifier, row in clusters.items():
        presets = kinds["rds_cluster"].choose(look, row)
        if presets or identifier in followed:
            yield kinds["rds_cluster"].item(look, row, presets)


def read_databases(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Instances alone, without their parameters: what a collector that logs in to them needs."""
    for row in _instances(look, _clusters(look)):
        for item in kinds["rds"].items(look, row):
            yield Item(resource=item.resource)


def _clusters(look: Look) -> Mapping[str, Document]:
    """The clusters by identifier; none where they may not be described."""
    rows = look.rows("rds", "describe_db_clusters", "DBClusters", {"MaxRecords": 100})
    return look.optional(
        lambda: {row["DBClusterIdentifier"]: row for row in rows if row.get("Engine") not in _OTHER_PRODUCTS},
        dict[str, Document](),
    )


def _instances(look: Look, clusters: Mapping[str, Document]) -> Iterator[Document]:
    for row in look.rows("rds", "describe_db_instances", "DBInstances", {"MaxRecords": 100}):
        if row.get("Engine") not in _OTHER_PRODUCTS:
            yield {**row, **_membership(row, clusters.get(row.get("DBClusterIdentifier") or ""))}


def _membership(row: Document, cluster: Document | None) -> dict[str, Any]:
    """Role, whether an instance follows another one, and IAM database authentication; None for what is not known.

    The role is `writer`, `reader`, or empty for one that stands alone or is not known.
    """
    login = bool(row.get("IAMDatabaseAuthenticationEnabled"))
    source = row.get("ReadReplicaSourceDBInstanceIdentifier") or row.get("ReadReplicaSourceDBClusterIdentifier")
    role = "reader" if source else "writer" if row.get("ReadReplicaDBInstanceIdentifiers") else ""
    if cluster is not None:
        identifier = row["DBInstanceIdentifier"]
        writers = {
            member["DBInstanceIdentifier"]: member.get("IsClusterWriter")
            for member in listed(cluster, "DBClusterMembers")
        }
        role = "" if identifier not in writers else "writer" if writers[identifier] else "reader"
    if not row.get("DBClusterIdentifier"):
        # StatusInfos tell of replication, which may also come from outside of RDS.
        return {"role": role, "replica": role == "reader" or bool(listed(row, "StatusInfos")), "iam_login": login}
    # AWS sets the login for a whole cluster, and the members' own flags stay as they were.
    return {
        "role": role,
        "replica": role == "reader" if role else None,
        "iam_login": (login or None) if cluster is None else bool(cluster.get("IAMDatabaseAuthenticationEnabled")),
    }


def _sizes(row: Document) -> dict[str, Any]:
    storage, throughput = row.get("AllocatedStorage"), row.get("StorageThroughput")
    # Aurora's storage grows by itself; its AllocatedStorage says nothing.
    is_aurora = row.get("Engine", "").startswith("aurora")
    return {
        "memory_bytes": memory_bytes(row.get("DBInstanceClass", "")),
        "storage_bytes": None if is_aurora or storage is None else storage * GIB,
        "throughput_bytes": None if throughput is None else throughput * _MIB,
    }


def _limit(look: Look, row: Document, cluster: Document) -> dict[str, Any]:
    text = ""
    if own := next(iter(listed(row, "DBParameterGroups")), dict[str, Any]()).get("DBParameterGroupName"):
        asked = {"DBParameterGroupName": own}
        text = look.detail(
            f"rds:DescribeDBParameters {own}", lambda: _max_connections(look, "describe_db_parameters", asked), ""
        )
    if not text and (shared := cluster.get("DBClusterParameterGroup")):
        # A parameter that the instance's group leaves alone comes from the cluster's.
        asked = {"DBClusterParameterGroupName": shared}
        text = look.detail(
            f"rds:DescribeDBClusterParameters {shared}",
            lambda: _max_connections(look, "describe_db_cluster_parameters", asked),
            "",
        )
    return _connection_limit(text, row, inner(cluster, "ServerlessV2ScalingConfiguration"))


def _max_connections(look: Look, operation: str, group: Mapping[str, str]) -> str:
    only = [{"Name": "parameter-name", "Values": ["max_connections"]}]
    rows: Iterable[Document] = look.rows("rds", operation, "Parameters", {**group, "Filters": only})
    return next((str(row.get("ParameterValue") or "") for row in rows if row["ParameterName"] == "max_connections"), "")


def _connection_limit(text: str, row: Document, scaling: Mapping[str, Any]) -> dict[str, Any]:
    """max_connections from the text of the parameter, and whether that is a number or a formula; else nothing.

    A formula's result is a little too high: RDS takes memory for itself before it is evaluated, and does not tell how
    much. The mysql collector reads the exact number from the server.
    """
    if not text:
        return {}
    if not is_formula(text):
        return {"max_connections": int(text), "max_connections_source": "number"}
    instance_class = row.get("DBInstanceClass", "")
    variables: dict[str, float] = {}
    if storage := row.get("AllocatedStorage"):
        variables["AllocatedStorage"] = storage * GIB
    memory = memory_bytes(instance_class, max_capacity=scaling.get("MaxCapacity"))
    if memory is not None:
        variables["DBInstanceClassMemory"] = float(memory)
    try:
        value = evaluate(text, variables)
    except FormulaError:
        return {}
    small = scaling.get("MinCapacity") is not None and scaling["MinCapacity"] <= 0.5
    if small and instance_class == "db.serverless" and row.get("Engine") == "aurora-postgresql":
        value = min(value, _SERVERLESS_LIMIT)
    return {"max_connections": value, "max_connections_source": "formula"}
