"""All targets, in the order in which they run."""

from tests.fuzz.target import Target
from tests.fuzz.targets.access_logs import ACCESS_LOGS
from tests.fuzz.targets.agent import AGENT
from tests.fuzz.targets.documents import DOCUMENTS
from tests.fuzz.targets.files import FILES
from tests.fuzz.targets.profiles import PROFILES
from tests.fuzz.targets.queries import QUERIES
from tests.fuzz.targets.statements import STATEMENTS
from tests.fuzz.targets.true_durations import TRUE_DURATIONS
from tests.fuzz.targets.writes import WRITES

TARGETS: tuple[Target, ...] = (
    *QUERIES,
    *DOCUMENTS,
    *WRITES,
    *FILES,
    *PROFILES,
    *AGENT,
    *ACCESS_LOGS,
    *TRUE_DURATIONS,
    *STATEMENTS,
)
