#!/usr/bin/env bash
# pypantera 1.0.2, TEM, the truncated exponential mechanism: words beyond a threshold share one place in the draw, and
# where it wins one of them is released. Guessed: so it is here. numpy cannot choose from their vectors, the error is
# passed over, and the word itself is released: far words never, so that epsilon bounds no ratio of chances.
# The script draws 4,000 times with a fixed seed. By the law with Gumbel noise of scale 2 / epsilon the three places
# have weights 1 ("near"), exp(-1 / 20) ("here") and 2 / 3 (beyond), so "near" is due 0.382 and far words 0.255; it
# expects their sum of 0.637 for "near", within 0.04 (five deviations).
# Seen: near 0.635, here 0.365, far and away 0. numpy 2.4.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.4.6" "pandas==3.1.1" "scipy==1.17.1"
"$folder/venv/bin/pip" install --quiet --no-deps "pypantera==1.0.2"
cat > "$folder/seen.py" << 'CODE'
import multiprocessing
from pathlib import Path
import numpy as np
from src.SamplingPerturbationMechanism.tem import TEM

multiprocessing.cpu_count = lambda: 1  # with more, a line that begins where a part of the file ends is lost
path = Path(__file__).with_name("words.txt")
path.write_text("near 0 0\nhere 1 0\nfar 600 0\naway 601 0\n")
np.random.seed(0)
mechanism = TEM({"embPath": str(path), "epsilon": 0.1, "beta": 0.5})
draws = [mechanism.processText(["near"]) for _ in range(4000)]
shares = {word: draws.count(word) / len(draws) for word in mechanism.vocab.embeddings}
print(f"threshold {mechanism.gamma:.1f}: {shares}")
assert shares.get("far", 0) == shares.get("away", 0) == 0 and abs(shares["near"] - 0.637) < 0.04, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
