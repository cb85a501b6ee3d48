"""Receivers and the global defaults of a notification file; what is one vendor's stands with its sender."""

from collections.abc import Mapping
from dataclasses import replace

from loadwatch_backend.alerting.notify.file.model import Receiver
from loadwatch_backend.alerting.notify.nodes import Section
from loadwatch_backend.alerting.notify.senders.http_config import HttpConfig, read_http
from loadwatch_backend.alerting.notify.senders.registry import SENDERS, UNSUPPORTED_CONFIGS, UNSUPPORTED_GLOBALS
from loadwatch_backend.core.language import Language

_RECEIVER_UNSUPPORTED = {"labels": "routes choose receivers by name", **UNSUPPORTED_CONFIGS}


def read_receivers(document: Section) -> Mapping[str, Receiver]:
    """All receivers by name, with the defaults of the section `global`.

    Raises:
        ConfigurationError: two have one name, or one or `global` is wrong.
    """
    common = document.part("global")
    common.duration("resolve_timeout")  # It is for alerts whose sender fell silent; ours are evaluated here.
    http = read_http(common.section("http_config")) or HttpConfig()
    readers = {sender.kind: sender.reader(common, http) for sender in SENDERS}
    language = _language(common, Language.EN)
    common.finish("global", UNSUPPORTED_GLOBALS)
    receivers: dict[str, Receiver] = {}
    for section in document.sections("receivers"):
        name = section.text("name")
        if not name:
            raise section.error("a receiver needs a name")
        if name in receivers:
            raise section.error(f"there are two receivers of the name {name!r}")
        own = _language(section, language)
        integrations = [
            replace(read(one, f"{kind}-{place}"), language=own)
            for kind, read in readers.items()
            for place, one in enumerate(section.sections(f"{kind}_configs"))
        ]
        section.finish(f"receiver {name!r}", _RECEIVER_UNSUPPORTED)
        receivers[name] = Receiver(name=name, integrations=tuple(integrations))
    return receivers


def _language(section: Section, otherwise: Language) -> Language:
    """Loadwatch's own key `language`."""
    given = section.take("language")
    if given is None:
        return otherwise
    try:
        return Language(given.text())
    except ValueError as error:
        raise given.error(f"language must be one of {', '.join(Language)}") from error
