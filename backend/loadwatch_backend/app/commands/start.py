"""What commands of the server check first: settings, access and address. Loads none of the server's libraries."""

import errno
import socket
from pathlib import Path
from typing import Any

import click
import structlog

from loadwatch_backend.access.modes import AccessSettingsError, access_of, check_settings
from loadwatch_backend.access.principal import Access
from loadwatch_backend.access.token_file import TokenFile, TokenFileError
from loadwatch_backend.core.addresses import ListenAddress
from loadwatch_backend.core.settings import Settings, SettingsError, load_settings

SETUP_VARIABLE = "LOADWATCH_UP_SETUP"
"""In which `loadwatch up` tells its server the secret of the first administrator's link, to show the link itself."""

logger = structlog.get_logger(__name__)

listen_option = click.option("--listen", metavar="HOST:PORT", help="Instead of LOADWATCH_LISTEN.")
data_option = click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="Instead of LOADWATCH_DATA."
)


class StartError(click.ClickException):
    """The start was refused; the message says why and what to do."""


def settings_of(**overrides: Any) -> Settings:
    """The settings of files and environment, with the options of the command that are not None.

    Raises:
        StartError: names the setting that cannot be used, and why.
    """
    try:
        return load_settings(**{name: value for name, value in overrides.items() if value is not None})
    except SettingsError as error:
        raise StartError(str(error)) from error


def check_access(settings: Settings) -> None:
    """Refuse what contradicts itself, and an address that others can reach while nobody has to sign in.

    Raises:
        StartError: says how to configure access.
    """
    try:
        access = access_of(settings)
        check_settings(settings)
    except AccessSettingsError as error:
        raise StartError(str(error)) from error
    if settings.token_file is None or access is Access.OPEN:
        return
    file = TokenFile(settings.token_file)
    try:
        if not file.records() and access is Access.TOKEN:
            raise StartError(
                f"the token file {file.path} holds no token, so nobody could sign in; make one with "
                f"`loadwatch token create --role admin --name NAME --token-file {file.path}`."
            )
        if not file.is_private():
            logger.warning("others can read the token file", path=str(file.path), remedy=f"chmod 600 {file.path}")
    except TokenFileError as error:
        raise StartError(str(error)) from error


def bind(address: ListenAddress) -> socket.socket:
    """A listening socket.

    Raises:
        StartError: the address is in use, or cannot be used; says what to do.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise StartError(f"cannot listen on {address}: {address.host!r} is no address of this machine.") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(2048)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"cannot listen on {address}: another process uses the port. "
                f"Stop it (`ss -ltnp 'sport = :{address.port}'` names it), or choose another address, "
                "for example LOADWATCH_LISTEN=127.0.0.1:8001."
            ) from error
        raise StartError(f"cannot listen on {address}: {error.strerror}.") from error
    bound.setblocking(False)
    return bound
