#!/usr/bin/env bash
# hll-py 0.1.13, HyperLogLogLDP counts users of a segment; with chance e^epsilon / (e^epsilon + 1) a user sends the
# true hash, which is the same for all of them, else a random one. Guessed: more epsilon, better counts. A sketch
# counts different hashes, so it counts those who did not send the truth: 1 + n / (e^epsilon + 1) of n, with no
# correction.
# The script averages 40 runs with fixed seeds. It allows 5 standard errors and 5 % for the sketch: a false alarm has
# a chance of 1e-6.
# Seen for 1000 users and 1024 registers: 268 at epsilon 1, 19.1 at epsilon 4, 1.3 at epsilon 8. Right: 1000.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps "hll-py==0.1.13"
cat > "$folder/seen.py" << 'CODE'
import math
import random
from hll_py.HyperLogLog import SketchConfig
from hll_py.HyperLogLogLDP import HyperLogLogLDP
users, runs = 1000, 40
for epsilon in (1.0, 4.0, 8.0):
    total = 0.0
    for seed in range(runs):
        random.seed(seed)
        counter = HyperLogLogLDP(SketchConfig(b=10, m=1, epsilon=epsilon))
        for _ in range(users):
            counter.insert_segments(["word_seg0"])
        total += counter.estimate_word("word")
    liars = users / (math.exp(epsilon) + 1)
    mean, expected = total / runs, 1 + liars
    print(f"epsilon {epsilon}: counts {mean:.1f} of {users} users; different hashes expected: {expected:.1f}")
    assert abs(mean - expected) < 5 * math.sqrt(liars / runs) + 0.05 * expected, "changed"
CODE
PYTHONHASHSEED=0 "$folder/venv/bin/python" "$folder/seen.py"
