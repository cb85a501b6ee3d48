"""All load tools that `loadwatch run` knows, in the order in which they are tried."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.gatling import Gatling
from loadwatch_collectors.runs.tools.hey import Hey
from loadwatch_collectors.runs.tools.jmeter import JMeter
from loadwatch_collectors.runs.tools.k6 import K6
from loadwatch_collectors.runs.tools.locust import Locust
from loadwatch_collectors.runs.tools.oha import Oha
from loadwatch_collectors.runs.tools.tool import Tool
from loadwatch_collectors.runs.tools.vegeta import Vegeta, VegetaShell
from loadwatch_collectors.runs.tools.wrk import Wrk

TOOLS: Sequence[Tool] = (Vegeta(), VegetaShell(), K6(), Locust(), Gatling(), JMeter(), Hey(), Oha(), Wrk())


def recognise(command: Sequence[str]) -> tuple[Tool, int] | None:
    """The tool of a command and the index of its word; None for any other command."""
    for tool in TOOLS:
        at = tool.recognise(command)
        if at is not None:
            return tool, at
    return None
