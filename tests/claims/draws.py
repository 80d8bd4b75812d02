"""Made-up tables for every claim about runs: how often is a verdict wrong?

In half of the tables the claim is true, in half it is false, with the noise from seed to seed of each of `LEVELS` in
turn. A verdict is wrong if it says the opposite of what the table was made from; `undecided` is never wrong.

Run with: python tests/claims/draws.py --draws 200 [--claims T34 V21]
"""

import argparse

import numpy as np
from invented import decided
from truths import TRUTHS

HOLDS, FAILS = {"reproduced", "holds with a condition"}, {"not reproduced", "refuted"}
OPEN = {"undecided", "not run"}
LEVELS = (0.008, 0.04, 0.25)  # of a score; the last hides most differences


def tally(id: str, draws: int, seed: int = 12) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Of so many draws, how many verdicts there are, how many are wrong and how many open."""
    stream = np.random.Generator(np.random.PCG64([seed, *id.encode()]))
    worlds = {true: TRUTHS[id].world(true) for true in (True, False)}
    found = np.zeros(3, dtype=np.int64)
    for turn in range(draws):
        true, level = turn % 2 == 0, LEVELS[turn // 2 % len(LEVELS)]
        verdict = decided(id, worlds[true].draw(stream, level))
        found += [1, verdict in (FAILS if true else HOLDS) or verdict == "mixed", verdict in OPEN]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How often a verdict on made-up results is wrong.")
    parser.add_argument("--draws", type=int, default=200, help="for each claim")
    parser.add_argument("--claims", nargs="*", default=sorted(TRUTHS), choices=sorted(TRUTHS))
    given = parser.parse_args()
    for id in given.claims:
        print("{}: draws {}, wrong {}, open {}".format(id, *tally(id, given.draws)), flush=True)


if __name__ == "__main__":
    main()
