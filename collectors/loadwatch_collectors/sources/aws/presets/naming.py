"""Names of series and labels as YACE (yet-another-cloudwatch-exporter) has them, so that its dashboards fit. Pure."""

import re

_SEPARATORS = frozenset(" ,\t/\\.-:=@<>()“")
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


def snake_case(text: str) -> str:
    """A word of CloudWatch in YACE's snake case: `CPUUtilization` is `cpuutilization`, `5XX` is `5_xx`.

    An underscore comes between a small letter or digit and a capital, never between two capitals. Signs that no name
    may have become underscores; `%` becomes `_percent`. (YACE's `promutil.PromString`.)
    """
    parts: list[str] = []
    before = ""
    for sign in text:
        if sign in _SEPARATORS:
            parts.append("_")
        elif sign == "%":
            parts.append("_percent")
        else:
            if sign.isupper() and (before.islower() or before.isdecimal()):
                parts.append("_")
            parts.append(sign.lower())
        before = sign
    return _NOT_A_NAME.sub("_", "".join(parts))


def series_name(namespace: str, metric: str, statistic: str = "") -> str:
    """The name of a series: `aws_<namespace>_<metric>_<statistic>`, as YACE's `promutil.BuildMetricName` makes it.

    A metric whose name repeats its namespace loses the repetition (`Glue`'s `glue.driver...`).
    """
    space = snake_case(namespace.removeprefix("/").lower())
    word = snake_case(metric)
    skip = 0
    for part in space.split("_"):
        if part and word.startswith(part, skip):
            skip = len(part)
    word = word[skip:].removeprefix("_")
    prefix = "" if space.startswith("aws") else "aws_"
    return f"{prefix}{space}_{word}" + (f"_{snake_case(statistic)}" if statistic else "")


def dimension_label(dimension: str) -> str:
    """The label of a dimension: `dimension_<Name>`, its capitals kept, as YACE does unless told otherwise."""
    return "dimension_" + _NOT_A_NAME.sub("_", dimension.replace("%", "_percent"))
