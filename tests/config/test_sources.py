"""Which source files a job depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorldp_papers.registries import METHODS
from tensorldp_papers.run import code_digest as sources
from tensorldp_papers.run.code_digest import source_digest, source_files, source_parts

ROOT = Path(__file__).parents[2]
RULES, SCRIPTS, NOTEBOOKS = (ROOT / "workflow" / "rules", ROOT / "workflow" / "scripts", ROOT / "notebooks")
LAPLACE = frozenset({"learning", "digits", "linear", "laplace"})
TLDP = frozenset({"learning", "digits", "linear", "tldp-l"})


def labels(*scripts: Path, names: frozenset[str] | None = None, plugins: tuple[str, ...] = ()) -> set[str]:
    return {sources._label(path) for path in source_files(scripts, names, plugins)}


def stage(name: str, names: frozenset[str] | None = None) -> set[str]:
    return labels(SCRIPTS / f"{name}.py", names=names)


def rules() -> Iterator[tuple[str, str]]:
    """The rules of the workflow, each with the script that it runs."""
    for path in sorted(RULES.glob("*.smk")):
        for block in re.split(r"\n(?=\s*(?:use )?rule\b)", "\n" + path.read_text())[1:]:
            script = re.search(r"stage=\"(\w+)|\"stage (\w+)|scripts/(\w+)\.py", block)
            if script or re.search(r"^ +(?:shell|run|notebook):", block, re.M):
                yield block, next(filter(None, script.groups())) if script else "\0"


def test_every_rule_states_the_source_of_what_it_runs() -> None:
    assert len(list(rules())) > 15
    for text, script in rules():
        own = rf"source=(?:lambda wildcards: )?source\(\"{script}\"[,)]|batch=batch\("
        assert re.search(rf"{own}|source=notebook_source\(", text), text


def test_the_digest_changes_with_each_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    job = ((SCRIPTS / "perturb.py",), LAPLACE)
    before, found = source_digest(*job), source_parts(*job)
    assert len(found) > 40
    stated = {path: parts for path, parts in found.items() if parts}  # a docstring alone is no part
    assert {path.name for path in found.keys() - stated.keys()} <= {"__init__.py"}
    for path, parts in stated.items():
        edited = {**found, path: [*parts[:-1], parts[-1]._replace(digest=b"")]}
        with monkeypatch.context() as patch:
            patch.setattr(sources, "source_parts", lambda *_, edited=edited: edited)
            assert source_digest.__wrapped__(*job) != before, path


def test_scores_do_not_depend_on_what_only_guarantees_and_audits_reach() -> None:
    for name in ("train", "evaluate", "perturb"):
        found = stage(name, LAPLACE)
        assert not {file for file in found if file.startswith(("tensorldp/audit/", "tensorldp/check/"))}, name
    wishart = frozenset({"covariance", "jl", "ctg"})
    assert "tensorldp/curves/wishart.py" in stage("privacy", wishart) - stage("measure", wishart)
    assert "tensorldp/audit/likelihood.py" in stage("privacy", wishart)
    assert "tensorldp/curves/gaussian.py" in stage("measure", frozenset({"frontier", "laplace"}))  # which calibrates


def test_a_statement_counts_and_a_comment_or_a_docstring_does_not(tmp_path: Path) -> None:
    paths = [*(sources.ROOT / "tensorldp" / "mechanisms").glob("*.py"), *SCRIPTS.glob("*.py")][::3]
    assert len(paths) > 10
    for number, path in enumerate(paths):
        text, seen = path.read_text(), []
        documented = re.sub(r'^( *)"""(?=\w)', r'\1"""Other words. ', text, flags=re.M)
        commented = f"# a comment\n\n{text}\n# another\n"
        for i, version in enumerate((text, documented, commented, f"{text}\n_edited = 1\n")):
            copy = tmp_path / f"{number}_{i}.py"
            copy.write_text(version)
            seen.append([part.digest for part in sources._parts(copy)])
        assert seen[0] == seen[1] == seen[2] != seen[3], path


def test_data_files_count_where_code_reads_them() -> None:
    page = "tensorldp_papers/report/page"
    assert "tensorldp_papers/papers/tldp/claims.csv" in stage("claims")
    assert {f"{page}/report.html", f"{page}/report.css", f"{page}/explorer.js"} <= stage("report")
    assert "tensorldp_papers/nets/compiled/steps.cpp" in stage("train", LAPLACE)
    assert "tensorldp_papers/papers/tldp/printed.yaml" in stage("report")
    rooms = {"tensorldp_papers/papers/tldp/room.yaml", "tensorldp_papers/papers/tldp/claims.csv"}
    assert rooms <= stage("report")
    assert not rooms & stage("train", LAPLACE)  # a colour or a claim computes no score anew


MVG, TLDP_FILE, LAPLACE_FILE = (f"tensorldp/mechanisms/{name}.py" for name in ("mvg", "tldp", "laplace"))
ROOMS = "tensorldp_papers/papers"


def test_a_cell_depends_on_its_own_mechanism_network_and_method() -> None:
    laplace, tldp = stage("perturb", LAPLACE), stage("perturb", TLDP)
    assert all(file.startswith(("tensorldp/mechanisms/", "tensorldp/curves/")) for file in laplace ^ tldp)
    assert {TLDP_FILE, LAPLACE_FILE} <= laplace ^ tldp
    others = (MVG, "tensorldp/mechanisms/privunit.py", f"{ROOMS}/latent/method.py", "tensorldp_papers/run/study.py")
    assert not set(others) & (laplace | tldp)
    pldp = stage("train", frozenset({"pldp_fl", "pdpm", "mlp"}))
    assert {f"{ROOMS}/pldp_fl/method.py", "tensorldp/mechanisms/pldp_fl.py", f"{ROOMS}/pldp_fl/clients.py"} <= pldp
    assert f"{ROOMS}/tldp/learning.py" in laplace - pldp


def test_a_job_that_may_choose_anything_depends_on_all_and_what_draws_no_noise_on_no_mechanism() -> None:
    everything = {MVG, TLDP_FILE, "tensorldp_papers/nets/split.py", f"{ROOMS}/latent/method.py"}
    assert everything <= stage("evaluate")
    assert f"{ROOMS}/tldp/figures.py" in stage("report")
    assert "tensorldp_papers/data/tabular.py" in stage("prepare")
    methods = {f"{plan.module.replace('.', '/')}.py" for plan in METHODS.all().values()}
    assert f"{ROOMS}/latent/method.py" in methods
    for name in ("download", "join", "cell"):
        found = stage(name)
        assert not {file for file in found if file.startswith("tensorldp/mechanisms/")} | methods & found, name


def clear() -> None:
    for function in vars(sources).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, in which lies an empty package in the place of this one."""
    write(tmp_path, {"tensorldp/__init__.py": "", "tensorldp/mechanisms/__init__.py": ""})
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(sources, "HOMES", (tmp_path / "tensorldp",))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    clear()


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    clear()


INSIDE = [f"tensorldp/mechanisms/{name}.py" for name in ("one", "two", "three")]
AROUND = ["tensorldp/__init__.py", "tensorldp/mechanisms/__init__.py", *INSIDE]


def test_all_ways_to_import_are_followed(folder: Path) -> None:
    empty = (*INSIDE, *(f"tensorldp/{name}" for name in ("mechanisms/alone.py", "a.py", "b.py", "papers/data.csv")))
    imports = "from tensorldp.mechanisms.one import f as g\nfrom .two import h\nfrom . import three\n"
    write(folder, {**dict.fromkeys(empty, ""), "tensorldp/mechanisms/__init__.py": imports})
    write(folder, {"beside.py": "import other\n", "other.py": "import numpy\n"})
    a, b = (["tensorldp/__init__.py", f"tensorldp/{name}.py"] for name in "ab")
    for text, expected in {
        "from tensorldp.a import (\n    x,\n    y as z,\n)": a,
        "import tensorldp.b as q": b,
        "import tensorldp\nx = tensorldp.a.f()": a,
        "import numpy, tensorldp.b, beside": [*b, "beside.py", "other.py"],
        "def f():\n    from tensorldp import a": a,
        "if x:\n    pass\nelse:\n    import tensorldp.b": b,
        "from tensorldp.mechanisms import g": AROUND[:3],
        "from tensorldp.mechanisms import h as q": [*AROUND[:2], AROUND[3]],
        "from tensorldp.mechanisms import *": AROUND,
        "from tensorldp import mechanisms": AROUND[:2],
        "from tensorldp.mechanisms.alone import f": [*AROUND[:2], "tensorldp/mechanisms/alone.py"],
        "import beside": ["beside.py", "other.py"],
        "from . import beside": ["beside.py", "other.py"],
        'files("tensorldp.papers").joinpath("data.csv")': ["tensorldp/papers/data.csv"],
        'x.get("absent")': [],
        "import tensorldp_other, tensorldp.absent": [],
    }.items():
        write(folder, {"script.py": text})
        assert labels(folder / "script.py") == {"script.py", *expected}, text


def test_what_is_imported_for_types_alone_does_not_count(folder: Path) -> None:
    types = "if TYPE_CHECKING:\n    from tensorldp import b\nelse:\n    from tensorldp import c\n"
    write(
        folder, {"tensorldp/a.py": types, "tensorldp/b.py": "", "tensorldp/c.py": "", "script.py": "import tensorldp.a"}
    )
    found = {"script.py", *(f"tensorldp/{name}.py" for name in ("__init__", "a", "c"))}
    assert labels(folder / "script.py") == found


def test_a_notebook_counts_by_its_code_and_so_does_what_it_imports(folder: Path) -> None:
    cell = '{"cell_type": "%s", "source": ["%%matplotlib inline\\n", "%s"], "outputs": [%s]}'

    def digest(*cells: str) -> str:
        write(folder, {"tensorldp/a.py": "", "n.ipynb": f'{{"cells": [{", ".join(cells)}]}}'})
        assert labels(folder / "n.ipynb") == {"n.ipynb", "tensorldp/__init__.py", "tensorldp/a.py"}
        return source_digest((folder / "n.ipynb",))

    code, words = cell % ("code", "import tensorldp.a", ""), cell % ("markdown", "words", "")
    assert digest(code, words) == digest(code) == digest(cell % ("code", "import tensorldp.a  # why", "1"))
    assert digest(code) != digest(cell % ("code", "import tensorldp.a as b", ""))


def test_a_plug_in_counts_for_the_cells_that_choose_from_it(folder: Path) -> None:
    write(folder, {"mine.py": 'import helper\nclass Mine:\n    name = "mine"\n', "helper.py": "", "s.py": ""})
    write(folder, {"lab/__init__.py": "from lab import noise\n", "lab/noise.py": 'class N:\n    name = "lab-noise"\n'})
    write(folder, {"tensorldp/mechanisms/laplace.py": ""})

    def of(*names: str) -> set[str]:
        found = labels(folder / "s.py", names=frozenset(names), plugins=("mine", "lab"))
        return found - {"s.py", "__init__.py", "tensorldp/__init__.py"}

    assert of("laplace") == {"tensorldp/mechanisms/__init__.py", "tensorldp/mechanisms/laplace.py"}
    assert of("mine", "learning") == {"mine.py", "helper.py"}
    assert of("lab-noise") == {"noise.py"}
    all_of_them = {"s.py", "mine.py", "helper.py", "noise.py", "__init__.py"}
    assert labels(folder / "s.py", plugins=("mine", "lab")) == all_of_them


def test_the_digest_does_not_depend_on_where_the_package_lies(folder: Path) -> None:
    write(folder, {"tensorldp/a.py": "x = 1", "s.py": "import tensorldp.a"})
    first = source_digest((folder / "s.py",))
    (folder / "elsewhere").mkdir()
    sources.ROOT = folder / "elsewhere"
    sources.HOMES = ((folder / "tensorldp").rename(sources.ROOT / "tensorldp"),)
    clear()
    assert source_digest((folder / "s.py",)) == first
