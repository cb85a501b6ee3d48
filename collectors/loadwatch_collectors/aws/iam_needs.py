"""What loadwatch.yml needs of IAM, for the identity that the agent runs as or for a role that it assumes."""

from collections.abc import Iterable
from pathlib import Path

from loadwatch_collectors.aws.iam import PolicyNeeds, needed_actions
from loadwatch_collectors.aws.settings import CloudWatchSettings
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.startup import read_config


def default_needs() -> PolicyNeeds:
    """All that can be read, in any region."""
    return PolicyNeeds(actions=needed_actions(CloudWatchSettings()) | {"cloudwatch:ListMetrics", "tag:GetResources"})


def configured_needs(path: Path, role: str | None = None) -> PolicyNeeds:
    """What a configuration needs, of the agent's own identity or of one of its roles.

    Raises:
        ConfigError: the file is wrong, has nothing of AWS, or does not assume this role.
        ValueError: it names a preset that does not exist.
    """
    config = read_config(path)
    blocks = [item.settings for item in config.collectors if isinstance(item.settings, CloudWatchSettings)]
    if not blocks:
        raise ConfigError(f"{path}: no target has a cloudwatch block")
    return role_needs(blocks, role, str(path)) if role else agent_needs(blocks)


def agent_needs(blocks: Iterable[CloudWatchSettings]) -> PolicyNeeds:
    """What the agent's own identity (or a profile's) needs: to read by itself, and to assume roles."""
    actions: frozenset[str] = frozenset()
    regions: set[str] = set()
    roles: set[str] = set()
    anywhere = False
    for block in blocks:
        roles |= {account.role_arn for account in block.accounts if account.role_arn}
        if not block.accounts or any(not account.role_arn for account in block.accounts):
            actions |= needed_actions(block)
            regions |= set(block.regions)
            anywhere = anywhere or not block.regions
    return PolicyNeeds(actions=actions, regions=() if anywhere else tuple(sorted(regions)), roles=tuple(sorted(roles)))


def role_needs(blocks: Iterable[CloudWatchSettings], role: str, path: str) -> PolicyNeeds:
    """What a role needs that the agent assumes.

    Raises:
        ConfigError: no block assumes it.
    """
    own = [block for block in blocks if any(account.role_arn == role for account in block.accounts)]
    if not own:
        raise ConfigError(f"{path}: no cloudwatch block assumes the role {role}")
    actions: frozenset[str] = frozenset()
    for block in own:
        actions |= needed_actions(block)
    everywhere = any(not block.regions for block in own)
    regions = () if everywhere else tuple(sorted({region for block in own for region in block.regions}))
    return PolicyNeeds(actions=actions, regions=regions, account_id=role.split(":")[4])
