"""The command `loadwatch iam-policy`."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from loadwatch_formats.terminal import echo

from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.errors import AgentError, CollectorError, ConfigError
from loadwatch_collectors.settings_loader import parse_document, read_document
from loadwatch_collectors.sources.aws.discovery.discovery import DATABASES
from loadwatch_collectors.sources.aws.iam import PolicyNeeds, lost_without, make_policy, needed_actions
from loadwatch_collectors.sources.aws.settings import AccountSettings, CloudWatchSettings
from loadwatch_collectors.sources.mysql.collector import MySQLSettings
from loadwatch_collectors.sources.mysql_statements.collector import MySQLStatementsSettings, rds_instance
from loadwatch_collectors.sources.mysql_statements.slow_log import LOG_ACTIONS
from loadwatch_collectors.sources.probe import ProbeSettings
from loadwatch_collectors.sources.process.search import ProcessSettings, find_pids
from loadwatch_collectors.sources.registry import sources_by_name
from loadwatch_collectors.transport.mysql_session import MySQLLogin

# What loadwatch.yml needs of IAM, for the identity that the agent runs as or for a role that it assumes.

BUILTIN_NAME = "(built-in configuration)"
SERVER_COMMAND = r"^(\S*/)?(python[\d.]* )?(\S*/)?loadwatch server( |$)"
"""The server's command line; `loadwatch up` runs its server as such a process too."""


def make_builtin_config(proc: Path = Path("/proc")) -> str:
    """The text of the built-in loadwatch.yml.

    `loadwatch up` names its server by LOADWATCH_LISTEN: the command line would find a second server of the host, too.
    """
    lines = ["targets:", "  - job: host", "    host: {}", "    sockets: {}"]
    if is_server_running(proc):
        port = os.environ.get("LOADWATCH_LISTEN", "").rpartition(":")[2]
        search = f"port: {port}" if port.isdecimal() and port != "0" else f"command: {json.dumps(SERVER_COMMAND)}"
        lines += ["  - job: loadwatch-server", f"    process: {{{search}}}"]
    return "\n".join(lines) + "\n"


def is_server_running(proc: Path) -> bool:
    try:
        return bool(find_pids(ProcessSettings(command=SERVER_COMMAND, proc=str(proc))))
    except CollectorError:
        return False


def read_config(path: Path | None) -> AgentConfig:
    """The configuration in a file, or the built-in one.

    Raises:
        ConfigError: anything in it is wrong.
    """
    document = parse_document(make_builtin_config(), BUILTIN_NAME) if path is None else read_document(path)
    return load_config(document, sources_by_name())


class ConfiguredSource(NamedTuple):
    """What one block of the configuration does in AWS. No accounts means the agent's own, no regions those found."""

    actions: frozenset[str] = frozenset()
    regions: tuple[str, ...] = ()
    accounts: tuple[AccountSettings, ...] = ()
    database_user: str = ""

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(account.role_arn for account in self.accounts if account.role_arn)

    @property
    def is_own(self) -> bool:
        return not self.accounts or any(not account.role_arn for account in self.accounts)


def default_needs() -> PolicyNeeds:
    return PolicyNeeds(actions=needed_actions(CloudWatchSettings()) | {"cloudwatch:ListMetrics", "tag:GetResources"})


def configured_needs(path: Path, role: str | None = None) -> PolicyNeeds:
    """What a configuration needs, of the agent's own identity or of one of its roles.

    Raises:
        ConfigError: the file is wrong, has nothing of AWS, or does not assume this role.
    """
    config = read_config(path)
    blocks = [block for item in config.collectors if (block := block_of(item.settings)) is not None]
    if not blocks:
        raise ConfigError(
            f"{path}: nothing in it reads AWS: no cloudwatch block, no mysql with discover or "
            "iam_auth, no slow_log in RDS"
        )
    return role_needs(blocks, role, str(path)) if role else agent_needs(blocks)


def block_of(settings: Any) -> ConfiguredSource | None:
    """What a source's settings need; None where they have nothing to do with AWS."""
    if isinstance(settings, CloudWatchSettings):
        return ConfiguredSource(actions=needed_actions(settings), regions=settings.regions, accounts=settings.accounts)
    login = settings.mysql if isinstance(settings, ProbeSettings) else settings
    if not isinstance(login, MySQLLogin):
        return None
    user = login.user if login.iam_auth else ""
    named = rds_instance(login.slow_log) if isinstance(login, MySQLStatementsSettings) else None
    if named is not None:
        regions = (named[0],) if named[0] else ()
        return ConfiguredSource(actions=LOG_ACTIONS, regions=regions, database_user=user)
    found = login.discover if isinstance(login, MySQLSettings) else None
    if found is not None:
        actions = frozenset(permission.action for permission in DATABASES.permissions)
        return ConfiguredSource(actions=actions, regions=found.regions, accounts=found.accounts, database_user=user)
    return (
        ConfiguredSource(regions=(login.iam_region,) if login.iam_region else (), database_user=user) if user else None
    )


def agent_needs(blocks: Iterable[ConfiguredSource]) -> PolicyNeeds:
    there = list(blocks)
    roles = frozenset[str]().union(*(block.roles for block in there))
    return _join([block for block in there if block.is_own], roles=tuple(sorted(roles)))


def role_needs(blocks: Iterable[ConfiguredSource], role: str, path: str) -> PolicyNeeds:
    """What a role needs that the agent assumes.

    Raises:
        ConfigError: no block assumes it.
    """
    own = [block for block in blocks if role in block.roles]
    if not own:
        raise ConfigError(f"{path}: nothing in it assumes the role {role}")
    return _join(own, account_id=role.split(":")[4])


def _join(blocks: Sequence[ConfiguredSource], *, roles: tuple[str, ...] = (), account_id: str = "") -> PolicyNeeds:
    # A block without regions reads that of its environment, which a policy cannot know.
    known = all(block.regions for block in blocks)
    return PolicyNeeds(
        actions=frozenset[str]().union(*(block.actions for block in blocks)),
        regions=tuple(sorted({region for block in blocks for region in block.regions})) if known else (),
        account_id=account_id,
        roles=roles,
        database_users=tuple(sorted({block.database_user for block in blocks if block.database_user})),
    )


EXIT_CONFIG = 2


@click.command("iam-policy")
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Path of loadwatch.yml. Without it the policy allows all that Loadwatch can read.",
)
@click.option("--role", metavar="ARN", help="The policy of this role of the configuration, which the agent assumes.")
@click.option("--explain", is_flag=True, help="Tell what would be lost without each permission, instead of the policy.")
def iam_policy(config: Path | None, role: str | None, explain: bool) -> None:
    """Print the least IAM policy for the configuration's AWS, as JSON.

    It is that of the identity that the agent runs as (user, instance role, task role); with --role that of a role which
    the agent assumes. Nothing in it changes anything in AWS.

    Exit status: 0 printed, 2 the configuration is wrong or has nothing of AWS.
    """
    try:
        needs = default_needs() if config is None else configured_needs(config, role)
    except (AgentError, ValueError) as error:
        echo(f"loadwatch iam-policy: {error}", err=True)
        sys.exit(EXIT_CONFIG)
    policy = make_policy(needs)
    if not explain:
        echo(json.dumps(policy, indent=2))
        for arn in needs.roles:
            echo(f"{arn} needs a policy of its own: loadwatch iam-policy --config {config} --role {arn}", err=True)
        return
    actions = [action for statement in policy["Statement"] for action in statement["Action"]]
    for action, lost in lost_without(actions).items():
        echo(f"{action}\n    lost without it: {lost}")
