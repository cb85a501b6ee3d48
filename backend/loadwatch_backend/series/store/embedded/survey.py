"""What the store holds, by metric, job and label."""

from collections.abc import Mapping, Sequence

import numpy as np

from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.series.store.embedded.sizes import SeriesSizes, read_sizes
from loadwatch_backend.series.store.losses import Loss
from loadwatch_backend.series.store.port import GroupUse, StoreSurvey


def survey_store(
    database: Database, index: SeriesIndex, span_ms: tuple[int | None, int | None], losses: Sequence[Loss]
) -> StoreSurvey:
    """See `Surveyor.survey`; `span_ms` is that of all samples."""
    sizes = read_sizes(database, damaged=bool(losses))
    return StoreSurvey(
        file_bytes=database.nbytes(),
        free_bytes=sizes.free_bytes,
        hot=sizes.hot,
        sealed=sizes.sealed,
        rollups=sizes.rollups,
        series=len(index),
        oldest_ms=span_ms[0],
        newest_ms=span_ms[1],
        metrics=group_uses(index.postings("__name__"), sizes),
        jobs=group_uses(index.postings("job"), sizes),
        losses=losses,
        labels=sorted(index.value_counts().items(), key=lambda item: (-item[1], item[0])),
    )


def group_uses(postings: Mapping[str, Ids], sizes: SeriesSizes) -> list[GroupUse]:
    """Series, samples and bytes by the values of one label, the largest first; the empty value is that of none.

    `postings` has the ids of all series with each value.
    """
    highest = max((int(ids.max(initial=0)) for ids in postings.values()), default=0)
    highest = max(highest, int(sizes.series.max(initial=0)))
    samples = np.bincount(sizes.series, sizes.samples, minlength=highest + 1)
    used = np.bincount(sizes.series, sizes.bytes, minlength=highest + 1)
    groups = [
        GroupUse(name=value, series=len(ids), samples=int(samples[ids].sum()), bytes=round(float(used[ids].sum())))
        for value, ids in postings.items()
    ]
    return sorted(groups, key=lambda group: (-group.bytes, -group.series, group.name))
