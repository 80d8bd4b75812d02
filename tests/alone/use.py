"""The library used with its own dependencies alone; prints one line at the end."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import torch

import tensorldp
from tensorldp import mechanisms, privacy

for name in mechanisms.names():
    assert mechanisms.mechanism_class(name).name == name
for module in walk_packages(tensorldp.__path__, "tensorldp."):
    import_module(module.name)

m = mechanisms.make("laplace", epsilon=1.0, domain=mechanisms.Box(0.0, 1.0, (2, 2)))
y = m.privatize(torch.zeros(3, 2, 2), torch.Generator().manual_seed(0))
assert y.shape == (3, 2, 2)
assert math.isclose(m.guarantee(0.0).epsilon, 1.0)
assert privacy.compose(m, count=2, delta=1e-5).epsilon <= 2.0
assert privacy.audit(m, samples=500).epsilon_lower <= 1.0
verdict = privacy.check(lambda x, generator: x, domain=m.domain, claim_epsilon=1.0, minutes=0.01, samples=1000)
assert verdict.refuted, verdict
assert "decision trees: not tried" in str(verdict)
assert "is refuted at confidence 0.95" in verdict.summary()
assert verdict.picture().startswith("<svg")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command `tensorldp` in this environment, whose packages may be known to this process alone."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from tensorldp.__main__ import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-S", "-c", code, *arguments], capture_output=True, text=True, check=False)


assert command("--version").stdout == f"tensorldp {tensorldp.__version__}\n"
done = command("guarantee", "tldp-l", "--epsilon", "1", "--box", "0", "1", "--shape", "28", "28")
assert "exactly 382.304" in done.stdout, done
done = command("canaries", "--epsilon", "1")
assert done.returncode == 2, done
assert "pip install 'tensorldp[pipeline]'" in done.stderr, done.stderr
assert done.stderr.count("\n") == 1, done.stderr
for name in ("pandas", "sklearn", "snakemake", "safetensors", "pydantic", "torchvision"):
    try:
        import_module(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(f"{name} is not a dependency of the library alone, and is here")
assert (Path(tensorldp.__file__).parent / "py.typed").is_file()
print(f"the library alone works, {tensorldp.__file__}: 1 passed, 0 failed")
