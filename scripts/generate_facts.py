"""Writes frontend/src/api/runs/facts.gen.ts: what the page needs to know of the facts of a run.

Usage: generate_facts.py
"""

import json
from pathlib import Path

from loadwatch_formats.run_facts import FACTS, Fact, Link

TARGET = Path(__file__).resolve().parent.parent / "frontend/src/api/runs/facts.gen.ts"
KINDS: dict[object, str] = {
    str: "text",
    float | None: "number",
    bool | None: "flag",
    list[str]: "texts",
    dict[str, str]: "pairs",
    list[Link]: "links",
}
HEAD = """/** Written by `make generate`; do not edit. */

/**
 * What can be said of a run. `most` bounds how many characters a text has, or how many there are of several; `query` is
 * its name in the query of an import, "" where that takes none; `facet` is what lists call its values in use.
 */
export const FACTS = [
"""


def line(fact: Fact) -> str:
    """A fact as an entry of the table."""
    known = {
        "name": fact.name,
        "kind": KINDS[fact.type],
        "most": fact.most if fact.several else fact.longest,
        "query": fact.option and (fact.query or fact.name),
        "typed": fact.typed,
        "listed": fact.listed,
        "facet": fact.facet,
    }
    return "  { " + ", ".join(f"{name}: {json.dumps(value)}" for name, value in known.items()) + " },\n"


def main() -> None:
    """Write the file."""
    TARGET.write_text(f"{HEAD}{''.join(line(fact) for fact in FACTS)}] as const;\n", "utf-8")


if __name__ == "__main__":
    main()
