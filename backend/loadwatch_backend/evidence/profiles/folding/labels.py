"""Values by what the application said of its samples: `pprof.Do(ctx, pprof.Labels("route", …))`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.profiles.folding.stacks import add_up
from loadwatch_backend.evidence.profiles.model import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSums:
    """One column of a profile by the values of one label.

    Attributes:
        key: of the label.
        by_value: the sum of each value; several values of the same key on one sample are one, joined by a comma.
        without: the sum of the samples that do not have the label.
    """

    key: str
    by_value: Mapping[str, int]
    without: int


def label_keys(profile: Profile) -> Sequence[str]:
    """Keys of the labels with texts, those on most samples first. Numbers, such as sizes of blocks, are none."""
    counts = Counter[str]()
    sizes = add_up(profile.labels, profile.values[:, :1] * 0 + 1, len(profile.label_sets))[:, 0]
    for one, size in zip(profile.label_sets, sizes, strict=True):
        for key in {label.key for label in one if label.text}:
            counts[key] += int(size)
    return [key for key, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def sums_by_label(profile: Profile, key: str, column: int) -> LabelSums:
    """The sums of one column by the texts of a label."""
    sums = add_up(profile.labels, profile.values[:, column : column + 1], len(profile.label_sets))[:, 0]
    by_value = Counter[str]()
    without = 0
    for one, value in zip(profile.label_sets, sums, strict=True):
        texts = [label.text for label in one if label.key == key and label.text]
        if texts:
            by_value[", ".join(texts)] += int(value)
        else:
            without += int(value)
    return LabelSums(
        key=key, by_value=dict(sorted(by_value.items(), key=lambda item: (-item[1], item[0]))), without=without
    )
