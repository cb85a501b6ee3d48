"""Every error the agent raises on purpose.

AgentError
├── ConfigError          loadwatch.yml is wrong; names the file and the line
├── CollectorError       a source could not be read this time
│   └── PrivilegeError   ... because a permission is missing
├── SpoolError           the spool's folder cannot be used
└── OtherAgentError      another agent of this host sends the same series
"""


class AgentError(Exception):
    """Base of the agent's errors; its text says what is wrong, where, and what to do."""


class ConfigError(AgentError):
    """The configuration file is wrong."""


class CollectorError(AgentError):
    """A source could not be read; the runner reports it and tries again at the next tick."""


class PrivilegeError(CollectorError):
    """A source refused us; the text names the missing permission."""


class SpoolError(AgentError):
    """The spool's folder cannot be written or read."""


class OtherAgentError(AgentError):
    """Another agent of this host sends the same series to the same server."""
