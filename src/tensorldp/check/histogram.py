"""What the statistic of a breach looks like under both records."""

from __future__ import annotations

import numpy as np

from tensorldp.check.search import Breach, Search

BINS = 40


def histogram(search: Search, breach: Breach) -> dict[str, list[float]]:
    """Counts of the event's statistic under both records, in bins of equal width between extreme quantiles."""
    trail = breach.trail
    values = [side[np.isfinite(side)] for side in search.columns(trail)[breach.event.statistic]]
    both = np.concatenate(values)
    if both.size == 0:
        return {}
    low, high = (float(v) for v in np.quantile(both, [0.005, 0.995]))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    counts = [np.histogram(side.clip(edges[0], edges[-1]), edges)[0].astype(float).tolist() for side in values]
    return {"edges": edges.tolist(), "x": counts[0], "x'": counts[1], "threshold": [breach.event.threshold]}
