"""`python -m tensorldp canaries`: one training with canaries, its lower bound beside the accountant's upper bound."""

from __future__ import annotations

import argparse
from functools import partial

from tensorldp.curves.dp_sgd import DpSgdCurve
from tensorldp.deltas import NOMINAL_DELTA, REPORT_DELTA
from tensorldp.errors import check_positive, check_whole
from tensorldp.mechanisms import make
from tensorldp.memory import check_memory
from tensorldp.privacy import one_run_audit
from tensorldp_papers.nets.canaries import dp_sgd_canaries, federated_canaries
from tensorldp_papers.nets.release import ParameterRelease

FEATURES = 8  # of an ordinary record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("training", choices=("dp-sgd", "federated"))
    parser.add_argument("--canaries", type=int, default=500, help="each in or out by a coin (default: 500)")
    parser.add_argument("--delta", type=float, default=REPORT_DELTA, help="of both bounds (default: 1e-5)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the lower bound (default: 0.95)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clip", type=float, default=1.0, help="of gradients, or of each parameter (default: 1)")
    sgd = parser.add_argument_group("dp-sgd")
    sgd.add_argument("--noise-multiplier", type=float, default=4.0, help="that the accountant is told (default: 4)")
    sgd.add_argument("--true-noise", type=float, help="that the training uses (default: the same); 0 forgets it")
    sgd.add_argument("--records", type=int, default=500, help="beside the canaries (default: 500)")
    sgd.add_argument("--lot", type=int, default=500, help="expected lot size (default: 500)")
    sgd.add_argument("--steps", type=int, default=40, help="(default: 40)")
    fed = parser.add_argument_group("federated")
    fed.add_argument("--mechanism", default="laplace", help="a mechanism's key (default: laplace)")
    fed.add_argument("--epsilon", type=float, default=1.0, help="its nominal epsilon of a round (default: 1)")
    fed.add_argument("--rounds", type=int, default=2, help="(default: 2)")
    fed.add_argument("--parameters", type=int, default=16, help="of a user's model (default: 16)")


def run(options: argparse.Namespace) -> int:
    """Print both bounds; 1 where the lower one is larger."""
    clip = check_positive("clip", options.clip)
    canaries = check_whole("canaries", options.canaries, low=10)
    audit = partial(
        one_run_audit,
        canaries=canaries,
        delta=options.delta,
        confidence=options.confidence,
        seed=options.seed,
    )
    if options.training == "dp-sgd":
        records = check_whole("records", options.records, low=1)
        check_memory("a training", (records + canaries) * (FEATURES + canaries), 16)
        lot = check_whole("lot", options.lot, low=1, high=records + canaries)
        train = dp_sgd_canaries(
            records=records,
            features=FEATURES,
            lot=lot,
            steps=options.steps,
            noise_multiplier=options.noise_multiplier if options.true_noise is None else options.true_noise,
            clip=clip,
        )
        curve = DpSgdCurve(options.noise_multiplier, lot / (records + canaries), options.steps)
        found = audit(train, curve)
        print(f"DP-SGD, {curve.unit_note}")
    else:
        size = check_whole("parameters", options.parameters, low=1)
        check_memory("a run", canaries * size, 16)
        release = ParameterRelease(
            lambda domain, **extra: make(
                options.mechanism, **{"epsilon": options.epsilon, "delta": NOMINAL_DELTA, "domain": domain, **extra}
            ),
            options.mechanism,
            epsilon=options.epsilon,
            delta=NOMINAL_DELTA,
            shapes=[(size,)],
            layers=[size],
            clip=clip,
            users=canaries,
            where="user",
            rounds=check_whole("rounds", options.rounds, low=1),
        )
        found = audit(federated_canaries(release), release.run_curve())
        print("federated, neighbours replace all uploads of one user, and all rounds of the run are composed")
    print(found)
    return int(found.refuted)
