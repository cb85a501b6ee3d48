"""All load tools that `loadwatch run` knows, in the order in which they are tried."""

from collections.abc import Sequence

from loadwatch_collectors.runs.tools.arguments import find_option, find_program, program_name, read_number
from loadwatch_collectors.runs.tools.gatling import Gatling
from loadwatch_collectors.runs.tools.hey import Hey
from loadwatch_collectors.runs.tools.jmeter import JMeter
from loadwatch_collectors.runs.tools.k6 import K6
from loadwatch_collectors.runs.tools.locust import Locust
from loadwatch_collectors.runs.tools.oha import Oha
from loadwatch_collectors.runs.tools.tool import Target, Tool
from loadwatch_collectors.runs.tools.vegeta import Vegeta, VegetaShell
from loadwatch_collectors.runs.tools.wrk import Wrk

_CLIENTS = {"ab": ("-c",), "siege": ("-c", "--concurrent"), "measuring-load": ("-clients", "--clients")}
"""Of tools whose result is not read: the options that tell how many clients wait for answers."""

TOOLS: Sequence[Tool] = (Vegeta(), VegetaShell(), K6(), Locust(), Gatling(), JMeter(), Hey(), Oha(), Wrk())


def recognise(command: Sequence[str]) -> tuple[Tool, int] | None:
    """The tool of a command and the index of its word; None for any other command."""
    for tool in TOOLS:
        at = tool.recognise(command)
        if at is not None:
            return tool, at
    return None


def read_target(command: Sequence[str]) -> Target:
    """What the arguments of any command ask for."""
    found = recognise(command)
    if found is not None:
        return found[0].target(command[found[1] + 1 :])
    at = find_program(command, tuple(_CLIENTS))
    if at is None:
        return Target()
    return Target(concurrency=read_number(find_option(command[at + 1 :], *_CLIENTS[program_name(command[at])])))
