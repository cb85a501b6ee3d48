"""Texts of SQL statements as they may leave the host: without values, on one line, bounded. Pure."""

import re

MOST_SIGNS = 200
"""Of a statement that is kept; enough to know it by. It is a label, and each one of a database is stored once."""
_READ_SIGNS = 2_000
"""More than Performance Insights gives (500 bytes); what an answer has beyond is not even looked at."""

# Tried from left to right at each place. What begins and does not end is cut off: its end is unknown, not its nature.
_TOKEN = re.compile(
    r"""
      /\*.*?(?:\*/|\Z) | --[^\n]* | \#[^\n]*          # comments: they may carry ids of requests and users
    | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)          # PostgreSQL: $$text$$
    | (?:\b[A-Za-z_]\w*)?'(?:[^'\\]|''|\\.)*(?:'|\\?\Z)  # 'text', E'text', x'0f', _utf8'text'
    | (?P<quoted>"(?:[^"\\]|""|\\.)*(?:"|\\?\Z))       # a name in PostgreSQL, a text in MySQL
    | (?P<name>`[^`]*(?:`|\Z))
    | (?P<word>[^\W\d][\w$]*|\$\d+)
    | (?:0[xXbB][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\w*
    """,
    re.VERBOSE | re.DOTALL,
)
_MASK = "?"


def mask_statement(text: str, *, quotes_are_names: bool = False) -> str:
    """A statement without what it was asked with.

    Digests of Performance Insights have hardly any values, but statements that an engine makes no digest of (`ALTER
    ROLE ... PASSWORD '...'`) come as they are, and a digest is cut off after 500 bytes, within a text perhaps. Texts,
    numbers and comments are masked. `quotes_are_names`: a `"..."` is a name, as PostgreSQL has it.
    """
    masked = _TOKEN.sub(lambda found: _masked(found, quotes_are_names), text[:_READ_SIGNS])
    line = " ".join(masked.split())
    return line if len(line) <= MOST_SIGNS else f"{line[: MOST_SIGNS - 1]}…"


def _masked(found: re.Match[str], quotes_are_names: bool) -> str:
    if found["word"] or found["name"]:
        return found[0]
    if found["quoted"]:
        return found[0] if quotes_are_names else _MASK
    return " " if found[0][0] in "/-#" else _MASK
