"""`loadwatch routes check` and `loadwatch routes test`: a notification file before it is in force."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from loadwatch_formats.terminal import echo

from loadwatch_backend.alerting.notify.file.configuration import default_inhibit_rules, read_configuration
from loadwatch_backend.alerting.notify.file.model import Configuration, unreadable_secrets
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.alerting.notify.routing.routing import receiver_names, routes_of

file_type = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group()
def routes() -> None:
    """Check a notification file, and ask where alerts would go by it."""


@routes.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=file_type)
def check(paths: Sequence[Path]) -> None:
    """Check files of receivers and routes in Alertmanager's format. An error says file and line."""
    broken = 0
    for path in paths:
        try:
            configuration = read_configuration(path)
        except ConfigurationError as error:
            broken += 1
            echo(str(error), err=True)
            continue
        echo(f"{path}: {', '.join(_counts(configuration))}")
        for reason in unreadable_secrets(configuration):
            echo(f"{path}: warning: {reason}", err=True)
    if broken:
        raise click.ClickException(f"{broken} of {len(paths)} files {'is' if broken == 1 else 'are'} broken.")


@routes.command()
@click.option(
    "--verify-receivers",
    "--verify.receivers",
    "expected",
    default=None,
    metavar="NAME,...",
    help="Fail unless the alert goes to these receivers, in this order.",
)
@click.argument("path", metavar="FILE", type=file_type)
@click.argument("labels", metavar="LABEL=VALUE...", nargs=-1)
def test(path: Path, labels: Sequence[str], expected: str | None) -> None:
    """Print the receivers of an alert with these labels, separated by commas."""
    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from error
    found = [route.receiver for route in routes_of(configuration, dict(map(_label, labels)))]
    echo(",".join(found))
    if expected is not None and found != [name for name in expected.split(",") if name]:
        raise click.ClickException(f"expected {expected}")


def _label(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.UsageError(f"{text!r} is no label; write it as severity=page")
    return name, value


def _counts(configuration: Configuration) -> Iterator[str]:
    named = receiver_names(list(configuration.root.walk()))
    ways = sum(len(receiver.integrations) for receiver in configuration.receivers.values())
    for count, what in (
        (len(configuration.receivers), "receiver"),
        (ways, "integration"),
        (sum(1 for _ in configuration.root.walk()), "route"),
        # Those of the file: the built-in ones come with every file that does not refuse them.
        (len([rule for rule in configuration.inhibit_rules if rule not in default_inhibit_rules()]), "inhibition rule"),
        (len(configuration.time_intervals), "time interval"),
        (len(configuration.notices), "run notice"),
    ):
        yield f"{count} {what}" + ("" if count == 1 else "s")
    told = {notice.receiver for notice in configuration.notices}
    unused = [name for name in configuration.receivers if name not in named and name not in told]
    if unused:
        yield f"without a route: {', '.join(unused)}"
