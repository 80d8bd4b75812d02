#!/usr/bin/env bash
# dp-group-stats 0.1.2, laplace_ci_half_width(epsilon, sensitivity, n, confidence) gives half the width of an interval
# for a mean with Laplace noise. Guessed: the interval covers the mean with the stated confidence. It halves the
# chance left over, as one does for a quantile, and then takes it as that of both sides: Laplace noise exceeds t on
# either side with chance e^(-t / b), so the right half-width is b ln(1 / (1 - confidence)) / n, and the one given
# covers (1 + confidence) / 2.
# Seen for epsilon 1, sensitivity 10, 100 users: at 0.5: 0.1386, right 0.0693, covers 0.75; at 0.9 (the default):
# 0.2996, right 0.2303, covers 0.95; at 0.99: 0.5298, right 0.4605, covers 0.995. Its own noise, drawn 200,000 times,
# agrees.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps "dp-group-stats==0.1.2"
cat > "$folder/seen.py" << 'CODE'
import math
import random
from dp_group_stats.mechanisms import laplace_ci_half_width, laplace_noise
epsilon, sensitivity, users, draws = 1.0, 10.0, 100, 200_000
rng = random.Random(0)
noise = [abs(laplace_noise(epsilon, sensitivity, rng)) / users for _ in range(draws)]
for confidence in (0.5, 0.9, 0.99):
    half, _ = laplace_ci_half_width(epsilon, sensitivity, users, confidence)
    right = sensitivity / epsilon * math.log(1 / (1 - confidence)) / users
    covers = 1 - math.exp(-half * users * epsilon / sensitivity)
    seen = sum(x <= half for x in noise) / draws
    print(f"confidence {confidence}: {half:.4f}, right {right:.4f}; covers {covers:.4f}, of its own draws {seen:.4f}")
    assert abs(covers - (1 + confidence) / 2) < 1e-9, "changed"
    assert abs(seen - covers) < 5 * math.sqrt(covers * (1 - covers) / draws), "the noise is another one"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
