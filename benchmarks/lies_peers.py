"""What another library's audit finds of the planted lies, where it is installed: jax-privacy's, on scores of releases.

Its auditor takes scores of the releases of two records; as score it gets the projection on x - x' (or the declared
likelihood ratio), at the declared worst pair or at all low against all high, and the same number of releases for all.
Run from the repository's root: python benchmarks/lies_peers.py --out peers.json
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tensorldp.check.observers import OneRelease
from tensorldp.check.pairs import pairs
from tensorldp.check.target import Target
from tensorldp.domain import Box
from tensorldp.errors import InputError
from tensorldp.files import write_json
from tensorldp_papers.run.cli import parser, run

SUITE = Path(__file__).parents[1] / "tests" / "privacy" / "lies"
SPLIT = 1  # the seed of the auditor's split into releases that choose a threshold and those that test it


def scores(case: Any, samples: int) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Scores of the releases of both records, and the claim (epsilon, delta)."""
    target = Target.of(case.make(), case.domain)
    box = case.domain
    assert isinstance(box, Box)
    pair = pairs(target, 0)[0]
    sides = [
        np.concatenate(list(OneRelease().observe(target, pair, second, samples, "peers"))) for second in (False, True)
    ]
    direction = (pair.x - pair.x_prime).reshape(-1).numpy()
    first, second = (side @ direction if side.shape[1] == direction.size else side.sum(axis=1) for side in sides)
    if case.epsilon is not None:
        return first, second, (case.epsilon, case.delta)
    curve = target.mechanism.curve()  # type: ignore[union-attr]
    pure = curve.epsilon(0.0)
    return first, second, (pure, 0.0) if np.isfinite(pure) else (curve.epsilon(1e-5), 1e-5)


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit every planted lie."""
    options = parser(__doc__ or "")
    options.add_argument("--samples", type=int, default=200_000, help="releases of each record")
    options.add_argument("--out", type=Path, required=True, help="JSON file to write")
    given = options.parse_args(arguments)
    try:
        auditing = import_module("jax_privacy.auditing")
    except ImportError as error:
        raise InputError(f"jax-privacy cannot be imported here ({error}): pip install jax-privacy") from None
    sys.path.insert(0, str(SUITE))
    from planted import LIES

    rows: list[dict[str, Any]] = []
    for case in LIES:
        start = time.process_time()
        first, second, (epsilon, delta) = scores(case, given.samples)
        auditor = auditing.CanaryScoreAuditor(np.nan_to_num(first), np.nan_to_num(second))
        strategy = auditing.Split(seed=SPLIT)
        bound = float(auditor.epsilon_clopper_pearson(0.05, delta, one_sided=False, threshold_strategy=strategy))
        rows.append({"name": case.name, "epsilon": epsilon, "delta": delta, "bound": bound, "found": bound > epsilon})
        rows[-1]["seconds"] = time.process_time() - start
        print(rows[-1], flush=True)
        write_json(given.out, rows)
    print(f"{len([row for row in rows if row['found']])} of {len(rows)} found")


if __name__ == "__main__":
    run(main)
