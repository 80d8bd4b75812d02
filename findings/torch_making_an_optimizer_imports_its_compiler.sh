#!/usr/bin/env bash
# torch 2.15.0: making the plainest optimizer, torch.optim.SGD, of one parameter. Guessed: it imports nothing, or little,
# as `import torch` has imported torch.optim. It imports PyTorch's compiler with all that it needs, torch._dynamo,
# torch._inductor and sympy among them: about 900 modules, in about the time of `import torch` itself. Nothing is
# compiled, and a second optimizer imports nothing. A process that takes few steps pays for it each time.
# Seen: import torch 1,199 modules in 1.5 s; SGD 908 more in 1.1 s; a second SGD 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "torch==2.15.0" "numpy==2.4.6"
cat > "$folder/seen.py" << 'CODE'
import sys
import time


def imported(what, action):
    before, start = set(sys.modules), time.process_time()
    made = action()
    new = set(sys.modules) - before
    print(f"{what}: {len(new)} modules in {time.process_time() - start:.1f} s")
    return made, new


torch, _ = imported("import torch", lambda: __import__("torch"))
assert "torch.optim" in sys.modules and "torch._dynamo" not in sys.modules, "changed"
one = torch.nn.Parameter(torch.ones(1))
_, new = imported("torch.optim.SGD", lambda: torch.optim.SGD([one], lr=0.1))
assert {"torch._dynamo", "torch._inductor", "sympy"} <= new and len(new) > 500, "changed"
_, more = imported("torch.optim.SGD again", lambda: torch.optim.SGD([one], lr=0.1))
assert not more, "changed"
CODE
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
