"""Interfaces and what they may carry, as findings see them. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import largest
from loadwatch_backend.findings.window import Window

SENT, RECEIVED = "node_network_transmit_bytes_total", "node_network_receive_bytes_total"
SPEED, DECLARED = "node_network_speed_bytes", "declared_limit"
UNWANTED = ("lo", "docker", "br-", "virbr", "cali", "flannel")
FULL = 0.9
"""Share of the cap: counted bytes include neither frame checksums nor the gaps between frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One direction of an interface; `cap` bytes a second, NaN where none is known."""

    labels: Mapping[str, str]
    rate: FloatArray
    cap: float
    declared: bool
    sends: bool
    metric: str
    interval_ms: int

    @property
    def name(self) -> Words:
        where = f"{self.labels.get('device', '?')} of {self.labels.get('instance', 'the host')}"
        where_ja = f"{self.labels.get('instance', 'ホスト')}の{self.labels.get('device', '?')}"
        return Words(where, where_ja)

    @property
    def verb(self) -> Words:
        return Words("sent", "送信") if self.sends else Words("received", "受信")


def ways(window: Window) -> Iterator[Way]:
    """Both directions of each interface that leads out of a host."""
    for metric, sends in ((SENT, True), (RECEIVED, False)):
        for labels, table in window[metric].by("job", "instance", "device"):
            device = labels.get("device", "")
            if device.startswith(UNWANTED):
                continue
            declared = largest(
                window[DECLARED]
                .where(instance=labels.get("instance", ""), resource=device, unit="bytes_per_second")
                .max,
                window.focus,
            )
            speed = largest(window[SPEED].where(**labels).max, window.focus)
            known = [bound for bound in (declared, speed) if np.isfinite(bound) and bound > 0]
            cap = min(known, default=float("nan"))
            yield Way(
                labels=labels,
                rate=table.rate,
                cap=cap,
                declared=cap == declared,
                sends=sends,
                metric=metric,
                interval_ms=table.slowest_ms,
            )
