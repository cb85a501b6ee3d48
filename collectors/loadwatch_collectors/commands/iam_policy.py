"""The command `loadwatch iam-policy`."""

import json
import sys
from pathlib import Path

import click
from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError

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
    from loadwatch_collectors.commands.iam_needs import configured_needs, default_needs
    from loadwatch_collectors.sources.aws.iam import lost_without, make_policy

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
