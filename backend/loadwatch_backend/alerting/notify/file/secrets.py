"""The secrets of a notification file: whether their files can be read."""

from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.core.secret import SecretError, secrets_in


def unreadable_secrets(configuration: Configuration) -> list[str]:
    """A sentence for each secret whose file cannot be read now."""
    reasons: dict[str, None] = {}
    for receiver in configuration.receivers.values():
        for integration in receiver.integrations:
            for secret in secrets_in(integration):
                try:
                    secret.reveal()
                except SecretError as error:
                    reasons[f"receiver {receiver.name!r}, {integration.id}: {error}"] = None
    return list(reasons)
