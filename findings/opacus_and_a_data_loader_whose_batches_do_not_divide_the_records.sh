#!/usr/bin/env bash
# opacus 1.6.0 with the DataLoader of torch 2.15.0: PrivacyEngine.make_private samples with the rate 1 / (number of
# batches), where "the average batch size stays the same" (docstring of DPDataLoader). Guessed: 600 of 1000 records in
# a batch stay about 600. They become 500, as there are two batches; with drop_last=True there is one batch, so the
# rate is 1 and each batch is the whole data set, without any sampling. "Ignoring drop_last", says a warning. Its
# accountant uses that rate.
# The script averages the sizes of 400 batches and more; it allows 5 standard errors, a false alarm has a chance of
# 1e-6.
# Seen: batch_size 250 stays 250; 300 becomes 250; 600 becomes 500; 600 with drop_last becomes 1000.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "torch==2.15.0" "opacus==1.6.0"
cat > "$folder/seen.py" << 'CODE'
import math
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
records = TensorDataset(torch.zeros(1000, 2), torch.zeros(1000))
for size, drop, expected in ((250, False, 250), (300, False, 250), (600, False, 500), (600, True, 1000)):
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    loader = DataLoader(records, batch_size=size, drop_last=drop)
    private = PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), 0.1), data_loader=loader,
        noise_multiplier=1.0, max_grad_norm=1.0)[2]
    sizes = [len(batch[0]) for _ in range(400) for batch in private]
    mean = sum(sizes) / len(sizes)
    print(f"batch_size {size}, drop_last {drop}: {mean:.1f} records in a batch, rate {private.sample_rate}")
    error = math.sqrt(expected * (1 - expected / 1000) / len(sizes))
    assert abs(mean - expected) <= 5 * error, "changed"
CODE
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
