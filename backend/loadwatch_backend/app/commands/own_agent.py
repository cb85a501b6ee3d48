"""The agent of `loadwatch up`: started with its file, and anew when the server asks for that."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadwatch_formats.terminal import echo

from loadwatch_backend.core.processes import AgentState, Child, start_child, stop_child


def own_command(*arguments: str) -> list[str]:
    """Ourselves with another command, by the same interpreter."""
    return [sys.executable, sys.argv[0], *arguments]


@dataclass(kw_only=True)
class OwnAgent:
    """The agent, last of the children of `loadwatch up`; `arguments` gives those for a file, or for none."""

    arguments: Callable[[Path | None], Sequence[str]]
    config: Path
    environment: Mapping[str, str]
    children: list[Child] = field(default_factory=list[Child])

    def start(self) -> None:
        """Start the agent with its file, if that is there."""
        arguments = self.arguments(self.config if self.config.exists() else None)
        self.children.append(start_child("the agent", own_command("agent", *arguments), self.environment))

    def restart(self) -> None:
        """Start it anew; one that another agent of this host has displaced is not there, and stays so."""
        if not self._is_running():
            return
        if (remark := stop_child(self.children.pop())) is not None:
            echo(remark, err=True)
        self.start()

    def state(self) -> AgentState:
        """What the server may know of it."""
        return AgentState(command=tuple(own_command()), config=self.config, running=self._is_running())

    def _is_running(self) -> bool:
        return len(self.children) > 1 and self.children[-1].ending() is None
