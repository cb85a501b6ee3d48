"""What one push may hold."""

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    """Limits of remote write.

    Attributes:
        jobs: the only ones whose samples are taken; without any: all.
        body_bytes: size of a body as it is sent.
        decompressed_bytes: size that a body's snappy header may announce.
        entries: series, labels, samples, exemplars, histograms and metadata of one request, together.
        held_bytes: bodies that may be in memory at once, of all requests together, as they are sent.
        labels: labels of one series.
        label_name_bytes: length of a label's name.
        label_value_bytes: length of a label's value.
        series_label_bytes: names and values of one series' labels together.
        request_label_bytes: those of all series of one request that are not remembered, each counted in full.
        new_series: series that one request may add.
        sender_series: active series of one sender.
        sender_new_series: series that one sender may add within an hour.
        ahead_ms: how far a sample may lie in the future.
        retention_ms: how old a sample may be; the same as the store's retention.
        metadata_metrics: metrics whose type, help and unit are remembered, and read of one request.
        metadata_bytes: help and unit of all of them together.
        cached_series: label sets whose encoded form is remembered, so that the next push needs no parsing.
        cached_bytes: memory that the encoded forms may take.
    """

    jobs: frozenset[str] = frozenset()
    body_bytes: int = 32 * MEBIBYTE
    decompressed_bytes: int = 128 * MEBIBYTE
    entries: int = 1_000_000
    held_bytes: int = 256 * MEBIBYTE
    labels: int = 64
    label_name_bytes: int = 1024
    label_value_bytes: int = 4096
    series_label_bytes: int = 64 * 1024
    request_label_bytes: int = 64 * MEBIBYTE
    new_series: int = 50_000
    sender_series: int = 200_000
    sender_new_series: int = 200_000
    ahead_ms: int = 10 * 60_000
    retention_ms: int = 15 * 24 * 3_600_000
    metadata_metrics: int = 50_000
    metadata_bytes: int = 32 * MEBIBYTE
    cached_series: int = 500_000
    cached_bytes: int = 128 * MEBIBYTE
