"""What the code that is shipped never does: run code from data, or touch what Snakemake does not promise."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import pytest
from references import ROOT

FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "os.system",
    "os.popen",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
    "pd.read_pickle",
    "pandas.read_pickle",
    "torch.hub.load",
    "joblib.load",
}


def sources() -> Iterator[tuple[str, str]]:
    """Every Python text that is shipped: the package, the scripts and the notebooks' cells."""
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]):
        yield str(path.relative_to(ROOT)), path.read_text()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text())["cells"]):
            if cell["cell_type"] == "code":
                yield f"{path.name}, cell {number}", "".join(cell["source"])


def complaints(text: str) -> list[str]:
    """What in a Python text could run code that comes with data."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            # torch refuses a checkpoint with this exception, which has to be caught
            found += [name.name for name in node.names if name.name != "UnpicklingError"]
        elif isinstance(node, ast.ImportFrom) and node.module == "yaml":
            safe = {"SafeLoader", "CSafeLoader"}
            found += [
                f"yaml.{name.name}" for name in node.names if name.asname == "SafeLoader" and name.name not in safe
            ]
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            truth = {key for key, value in given.items() if isinstance(value, ast.Constant) and value.value is True}
            # the methods of TarFile and ZipFile write to disk; plain and `.str` ones do not
            to_disk = name.endswith((".extractall", ".extract")) and not name.endswith(".str.extract")
            if name in FORBIDDEN_CALLS or to_disk:
                found.append(name)
            if name.endswith("torch.load") and "weights_only" not in truth:
                found.append("torch.load without weights_only=True")
            if "allow_pickle" in given and not (
                isinstance(given["allow_pickle"], ast.Constant) and given["allow_pickle"].value is False
            ):
                found.append("allow_pickle")
            if "shell" in truth:
                found.append("shell=True")
    return found


def test_nothing_that_is_shipped_runs_code_from_data() -> None:
    texts = dict(sources())
    assert len(texts) > 60
    assert {name: found for name, text in texts.items() if (found := complaints(text))} == {}


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
    assert complaints(text)


# attributes of Snakemake that are no part of what it promises
PRIVATE = re.compile(
    r"\b(?:workflow|rules|rule|checkpoints|job)\._|\._file\b|persistence|IOFile|scheduler|\.dag\b|snakemake\.(?!utils)"
)


def test_no_private_attribute_of_snakemake_is_touched() -> None:
    files = [*(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow" / "Snakefile", ROOT / "Snakefile"]
    assert len(files) > 8
    found = [f"{path.name}: {line}" for path in files for line in path.read_text().splitlines() if PRIVATE.search(line)]
    assert found == []
    public = {"is_main_process", "current_basedir", "overwrite_configfiles"}
    assert {name for path in files for name in re.findall(r"\bworkflow\.(\w+)", path.read_text())} <= public
