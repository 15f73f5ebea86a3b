"""What Prometheus reads: what this process counts itself, and what its look at the databases says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, ProcessCollector, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.ports_github import RateLeft

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OUTCOMES = ("queued", "ignored", "rejected", "failed")
FRESH_SECONDS = 1.0
"""However often it is asked, the databases are looked at no oftener than this."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the whole installation stands, whoever looks."""

    runs: Mapping[str, int]
    """Stage -> how many."""
    trials: Mapping[str, int]
    """Status, or `queued` or `waiting` while there is none -> how many."""
    writes: Mapping[str, int]
    """Kind -> how many are meant and not confirmed."""
    oldest_write: float
    """Seconds since the oldest of them was meant; 0: there is none."""
    judge_calls: int
    judge_cost: float
    """US dollars, as far as prices are known."""
    dearest_run: float
    """The same of the run under way that has cost most."""


class Metrics:
    """The metrics of one process."""

    def __init__(self, rates: Callable[[], Sequence[RateLeft]], standing: Callable[[], Standing] | None = None) -> None:
        """The metrics.

        Args:
            rates: What is left of GitHub's limits, as this process knows it.
            standing: Asks the databases; raises RuntimeError where they do not answer. None: another process does.
        """
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._deliveries = None
        if standing is not None:
            self._deliveries = Counter(
                "assay_deliveries", "Webhook deliveries to this process.", ["outcome"], registry=self._registry
            )
            for outcome in OUTCOMES:
                self._deliveries.labels(outcome)
            self._registry.register(_Standing(standing))
        self._registry.register(_Rates(rates))

    def delivered(self, outcome: str) -> None:
        """Count a delivery."""
        if self._deliveries is not None:
            self._deliveries.labels(outcome).inc()

    def exposition(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self._registry)

    def serve(self, host: str, port: int) -> None:
        """Answer at an address of its own, in a thread."""
        start_http_server(port, host, registry=self._registry)


class _Rates(Collector):
    def __init__(self, rates: Callable[[], Sequence[RateLeft]]) -> None:
        self._rates = rates

    def collect(self) -> Iterator[Metric]:
        names = ["account", "resource"]
        left = GaugeMetricFamily("assay_github_rate_left", "Requests left of GitHub's limit.", labels=names)
        for rate in self._rates():
            left.add_metric([rate.account, rate.resource], rate.at(time.time()))
        yield left


class _Standing(Collector):
    """A database that is away leaves gaps, not an error: what the process counts itself is still told."""

    def __init__(self, standing: Callable[[], Standing]) -> None:
        self._ask = standing
        self._lock = threading.Lock()
        self._last: tuple[float, Standing] | None = None

    def describe(self) -> Iterator[Metric]:
        """Nothing: what is told depends on the databases, and registering must not ask them."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        standing = self._standing()
        yield GaugeMetricFamily("assay_database_up", "Whether the databases answered.", value=standing is not None)
        if standing is not None:
            yield from _families(standing)

    def _standing(self) -> Standing | None:
        with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > FRESH_SECONDS:
                try:
                    self._last = (time.monotonic(), self._ask())
                except RuntimeError:
                    self._last = None
                    return None
            return self._last[1]


def _families(standing: Standing) -> Iterator[Metric]:
    counts = (
        ("assay_runs", "Runs by stage.", "stage", standing.runs),
        ("assay_trials", "Trials by status.", "status", standing.trials),
        ("assay_write_queue", "Writes to GitHub that are meant and not confirmed.", "kind", standing.writes),
    )
    for name, text, label, values in counts:
        family = GaugeMetricFamily(name, text, labels=[label])
        for value, count in sorted(values.items()):
            family.add_metric([value], count)
        yield family
    age = "Since the oldest write was meant that is not confirmed."
    yield GaugeMetricFamily("assay_write_queue_oldest_seconds", age, value=standing.oldest_write)
    yield CounterMetricFamily("assay_judge_calls", "Answers of models paid for.", value=standing.judge_calls)
    yield CounterMetricFamily("assay_judge_paid_dollars", "What they cost.", value=standing.judge_cost)
    dearest = "What judging has cost in the run under way where it has cost most."
    yield GaugeMetricFamily("assay_judge_cost_dollars", dearest, value=standing.dearest_run)
