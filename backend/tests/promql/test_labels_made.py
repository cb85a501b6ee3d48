"""Labels that a query makes itself are bounded: each of them, and all of one query together."""

from collections.abc import Callable, Generator

import numpy as np
import pytest
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.errors import QueryTooLargeError
from loadwatch_backend.series.promql.labels import LabelBudget
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, SampleStore

SERIES = 50
VALUE = "v" * 40


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[SampleStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path_factory.mktemp("made")), lambda: 1_000_000)
    try:
        ids = store.resolve(
            [{"__name__": "made", "i": str(number), "a": VALUE, "b": f"{number}"} for number in range(SERIES)]
            + [{"__name__": "one", "version": VALUE}]
        )
        times = np.full(len(ids), 1_000_000, np.int64)
        store.append(Batch(series=ids, timestamps=times, values=np.arange(len(ids), dtype=np.float64))).result(120)
        yield store
    finally:
        store.close()


def _ask(store: SampleStore, text: str, **limits: int) -> int:
    return len(Engine(store, EngineSettings(**limits)).instant(text, 1_000_000).labels)


_MAKERS: dict[str, Callable[[int], str]] = {
    "label_join": lambda length: f'label_join(made, "c", "{"s" * (length - 80)}", "a", "a")',
    "label_join of many": lambda length: f"""label_join(made, "c", ""{', "a"' * (length // 40)})""",
    "label_replace, text": lambda length: f'label_replace(made, "c", "{"t" * length}", "a", ".*")',
    "label_replace, groups": lambda length: f'label_replace(made, "c", "{"$1" * (length // 40)}", "a", "(.*)")',
    "label_replace, name": lambda length: f'label_replace(made, "{"n" * length}", "x", "a", ".*")',
    "count_values, name": lambda length: f'count_values("{"n" * length}", made)',
}


@pytest.mark.parametrize("make", _MAKERS.values(), ids=_MAKERS.keys())
def test_one_label_is_as_long_as_those_that_are_stored(store: SampleStore, make: Callable[[int], str]) -> None:
    assert _ask(store, make(400), max_label_length=400) == SERIES
    with pytest.raises(QueryTooLargeError, match=r"longer than 400 characters: join fewer labels"):
        _ask(store, make(440), max_label_length=400)


@pytest.mark.parametrize(
    "text",
    [
        'label_join(made, "c", "", "a")',
        'label_replace(made, "c", "$1", "a", "(.*)")',
        'label_join(label_join(made, "c", "", "b", "b"), "d", "", "a")',
        f'count_values("{"n" * 40}", made)',
        "made * on () group_left (version) one",
        "one * on () group_right (version) made",
    ],
)
def test_all_labels_of_a_query_are_bounded_together(store: SampleStore, text: str) -> None:
    assert _ask(store, text, max_new_labels=SERIES * 60) == SERIES
    with pytest.raises(QueryTooLargeError, match=r"labels that the query makes have more than 1500 characters in all"):
        _ask(store, text, max_new_labels=SERIES * 30)


def test_the_text_of_all_groups_is_never_built() -> None:
    # 4 kB that would make 64 MB of text for each series, were the length looked at afterwards.
    budget = LabelBudget()
    with pytest.raises(QueryTooLargeError):
        budget.take("n" * 5_000, "")
    budget.take("n" * 4_096, "v" * 4_096)
