#!/usr/bin/env bash
# fedlab 1.3.0, client_inner_dirichlet_partition(targets, ...): "non-iid Dirichlet partition" with given numbers of
# samples. Guessed: at a small dir_alpha most of a client's records have one label. It shuffles a copy of the targets
# first, and returns places in that copy: taken as indices of the data, they are a random sample. It also counts the
# argument client_sample_nums down to zeros.
# The script has 10 clients of 60 records, 10 labels of 600 records each, alpha 0.05 and 5 seeds. It takes the largest
# share of a label at a client, averaged over clients.
# Seen: 0.158 to 0.183 by the indices, which is a random sample's (0.158 to 0.187); 0.730 to 0.868 in the shuffled
# targets.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "numpy==2.2.6" "pandas==2.3.3"
"$folder/venv/bin/pip" install --quiet --no-deps --target "$folder/fedlab" "fedlab==1.3.0"
cd "$folder/fedlab/fedlab/utils/dataset"  # the package imports PyTorch, this module of it does not
cat > "$folder/seen.py" << 'CODE'
import sys
import numpy as np
sys.path.insert(0, ".")
from functional import client_inner_dirichlet_partition
def largest_share(targets, places):
    return np.mean([np.bincount(targets[i]).max() / len(i) for i in places])
targets = np.random.default_rng(1).permutation(np.repeat(np.arange(10), 600))
for seed in range(5):
    np.random.seed(seed)
    sizes = np.full(10, 60)
    clients = client_inner_dirichlet_partition(targets, 10, 10, 0.05, sizes, verbose=False)
    np.random.seed(seed)
    shuffled = targets[np.random.permutation(6000)]
    random = [np.random.choice(6000, 60, replace=False) for _ in range(10)]
    shares = [largest_share(t, p) for t, p in
              ((targets, clients.values()), (targets, random), (shuffled, clients.values()))]
    print(f"seed {seed}: largest share {shares[0]:.3f}, of a random sample {shares[1]:.3f}, "
          f"in the shuffled targets {shares[2]:.3f}; client_sample_nums sums to {sizes.sum()}")
    assert shares[0] < 0.25 and shares[2] > 0.6 and sizes.sum() == 0, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
