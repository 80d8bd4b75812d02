"""What the code that is shipped never does, and what Snakemake's rules always have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from texts import ROOT, data, files, named, read, tree

FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
FORBIDDEN_CALLS = re.compile(
    r"eval|exec|os\.(system|popen)|yaml\.(|unsafe_|full_)load|(pd|pandas)\.read_pickle|torch\.hub\.load|joblib\.load"
)
KEYWORDS = {"weights_only", "allow_pickle", "shell"}
SAFE = {"SafeLoader", "CSafeLoader"}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """All Python that is shipped: the package, the scripts and the notebooks' cells."""
    yield from ((named(path), tree(path)) for path in files("src", "workflow", suffixes={".py"}))
    for path in files("notebooks", suffixes={".ipynb"}):
        for number, cell in enumerate(data(f"{path}")["cells"]):
            if cell["cell_type"] == "code":
                yield f"{path.name}, cell {number}", ast.parse("".join(cell["source"]))


def complaints(module: ast.Module) -> list[str]:
    """What in a Python text could run code that comes with data."""
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            # torch refuses a checkpoint with this exception, which has to be caught
            found += [name.name for name in node.names if name.name != "UnpicklingError"]
        elif isinstance(node, ast.ImportFrom) and node.module == "yaml":
            found += [name.name for name in node.names if name.asname == "SafeLoader" and name.name not in SAFE]
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {one.arg: ast.unparse(one.value) for one in node.keywords if one.arg in KEYWORDS}
            # the methods of TarFile and ZipFile write to disk; plain and `.str` ones do not
            to_disk = name.endswith((".extractall", ".extract")) and not name.endswith(".str.extract")
            if FORBIDDEN_CALLS.fullmatch(name) or to_disk:
                found.append(name)
            if name.endswith("torch.load") and given.get("weights_only") != "True":
                found.append("torch.load without weights_only=True")
            if given.get("allow_pickle", "False") != "False":
                found.append("allow_pickle")
            if given.get("shell") == "True":
                found.append("shell=True")
    return found


def test_nothing_that_is_shipped_runs_code_from_data() -> None:
    modules = dict(sources())
    assert len(modules) > 60
    assert {name: found for name, module in modules.items() if (found := complaints(module))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from joblib import load",
        "torch.load(p)",
        "torch.load(p, weights_only=False)",
        "np.load(p, allow_pickle=True)",
        "np.load(p, allow_pickle=x)",
        "eval(x)",
        "yaml.load(x)",
        "yaml.load(x, Loader=FullLoader)",
        "from yaml import UnsafeLoader as SafeLoader",
        "t.extractall(p)",
        "subprocess.run(x, shell=True)",
        "pd.read_pickle(p)",
    ],
)
def test_the_search_finds_what_it_is_for(text: str) -> None:
    assert complaints(ast.parse(text))


SMK = [*files("workflow", suffixes={".smk"}), ROOT / "workflow" / "Snakefile", ROOT / "Snakefile"]
# attributes of Snakemake that are no part of what it promises
PRIVATE = re.compile(
    r"\b(?:workflow|rules|rule|checkpoints|job)\._|\._file\b|persistence|IOFile|scheduler|\.dag\b|snakemake\.(?!utils)"
)
RULE = re.compile(r"^( *)rule(?: (\w+))?:\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


def test_no_private_attribute_of_snakemake_is_touched() -> None:
    assert len(SMK) > 8
    assert [f"{path.name}: {line}" for path in SMK for line in read(path).splitlines() if PRIVATE.search(line)] == []
    public = {"is_main_process", "current_basedir", "overwrite_configfiles"}
    assert {name for path in SMK for name in re.findall(r"\bworkflow\.(\w+)", read(path))} <= public


def jobs(paths: list[Path]) -> dict[str, str]:
    """The texts of the rules that run a job."""
    found = [match.groups() for path in paths for match in RULE.finditer(read(path) + "\n")]
    return {name or f"rule {i}": text for i, (_, name, text) in enumerate(found) if "shell:" in text}


def test_every_job_has_a_log_and_an_environment() -> None:
    found = jobs(files("workflow/rules", suffixes={".smk"}))
    assert len(found) > 20
    for key in ("log", "conda"):
        assert [name for name, text in found.items() if not re.search(rf"^ +{key}: ", text, re.MULTILINE)] == []


def test_jobs_on_cells_state_their_memory_and_a_time_that_grows_with_their_cells() -> None:
    found = {name: text for name, text in jobs([ROOT / "workflow/rules/cells.smk"]).items() if "localrule" not in text}
    assert found.keys() == {"perturb", "train", "train_shared", "evaluate", "measure", "privacy"}
    stated = re.compile(r"^ +resources: .*\bmem_mb=\d+, runtime=minutes\(\d+\)", re.MULTILINE)
    assert [name for name, text in found.items() if not stated.search(text)] == []
