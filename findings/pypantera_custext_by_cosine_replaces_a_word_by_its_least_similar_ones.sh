#!/usr/bin/env bash
# pypantera 1.0.2, CusText: a word is replaced by one of the k that are nearest to it, the nearer the likelier. Guessed:
# with distance="cosine" these are the k of the largest cosine. They are the k of the smallest, in the same order as for
# distances; a word is never kept, at any epsilon, and becomes its opposite. distance="euclidean" is as guessed.
# The script draws 300 times with a fixed seed from eight words, of which three are near "good" by either measure. The
# rarest of the candidates has a chance above 0.035 in a draw, so that it is missed with less than 1e-4.
# Seen for "good", epsilon 5: euclidean fine, good, nice; cosine bad, dull, poor. The wheel installs a package named
# "src", and none named "pypantera", which its page imports. numpy 2.4.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.4.6" "pandas==3.1.1" "scipy==1.17.1" "scikit-learn==1.9.1"
"$folder/venv/bin/pip" install --quiet --no-deps "pypantera==1.0.2"
cat > "$folder/seen.py" << 'CODE'
import multiprocessing
from pathlib import Path
import numpy as np
from src.SamplingPerturbationMechanism.custext import CusText

multiprocessing.cpu_count = lambda: 1  # with more, a line that begins where a part of the file ends is lost
places = {"good": (1, 0), "fine": (1, 0.1), "nice": (1, -0.1), "cat": (0, 1), "bad": (-1, 0), "dull": (-1, 0.1),
          "poor": (-1, -0.1), "dog": (0, -1)}
path = Path(__file__).with_name("words.txt")
path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in places.items()))
np.random.seed(0)
seen = {}
for distance in ("euclidean", "cosine"):
    mechanism = CusText({"embPath": str(path), "epsilon": 5, "k": 3, "distance": distance})
    seen[distance] = sorted({mechanism.processText(["good"]) for _ in range(300)})
print(seen)
assert seen == {"euclidean": ["fine", "good", "nice"], "cosine": ["bad", "dull", "poor"]}, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
