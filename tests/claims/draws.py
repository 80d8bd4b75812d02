"""200 made-up tables for every claim about runs: how often is a verdict wrong?

In half of the tables the claim is true, in half it is false. The noise from seed to seed is, in turn, four and twenty
times that of the quick tests, and 0.25 of a score, which hides most differences. A verdict is wrong if it says the
opposite of what the table was made from; `undecided` is never wrong.

Run with: python tests/claims/draws.py --draws 200 [--claims T34 V21] [--out FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from truths import TRUTHS
from worlds import NOISE, decided

HOLDS, FAILS = {"reproduced", "holds with a condition"}, {"not reproduced", "refuted"}
OPEN = {"undecided", "not run"}
LEVELS = (4 * NOISE, 20 * NOISE, 0.25)


def tally(id: str, draws: int, seed: int = 12) -> dict[str, int]:
    """Of so many draws, how many verdicts are wrong and how many are open."""
    stream = np.random.Generator(np.random.PCG64([seed, *id.encode()]))
    worlds = {True: TRUTHS[id].world(True), False: TRUTHS[id].world(False)}
    found = {"draws": draws, "wrong": 0, "open": 0}
    for turn in range(draws):
        true, level = turn % 2 == 0, LEVELS[turn // 2 % len(LEVELS)]
        verdict = decided(id, worlds[true].draw(stream, level))
        found["wrong"] += verdict in (FAILS if true else HOLDS)
        found["open"] += verdict in OPEN
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How often a verdict on made-up results is wrong.")
    parser.add_argument("--draws", type=int, default=200, help="for each claim")
    parser.add_argument("--claims", nargs="*", default=sorted(TRUTHS), choices=sorted(TRUTHS))
    parser.add_argument("--out", type=Path, help="a file to which each claim's line is added")
    given = parser.parse_args()
    total = dict.fromkeys(("draws", "wrong"), 0)
    for id in given.claims:
        own = tally(id, given.draws)
        line = f"{id}: " + ", ".join(f"{key} {value}" for key, value in own.items())
        print(line, flush=True)
        if given.out:
            with given.out.open("a") as file:
                file.write(line + "\n")
        total = {key: total[key] + own[key] for key in total}
    print(f"{total['wrong']} wrong of {total['draws']} draws ({total['wrong'] / total['draws']:.2%})")


if __name__ == "__main__":
    main()
