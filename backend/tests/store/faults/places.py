"""All places, in the order in which a sample comes to them, then the tables and the way to another engine."""

from collections.abc import Mapping

from backend.tests.store.faults.backups import BACKUP
from backend.tests.store.faults.migrations import MIGRATION, TRANSFER
from backend.tests.store.faults.place import Place
from backend.tests.store.faults.samples import RETENTION, ROLLUP, SEAL, WRITE

PLACES: Mapping[str, Place] = {
    place.name: place for place in (WRITE, SEAL, ROLLUP, RETENTION, BACKUP, MIGRATION, TRANSFER)
}
