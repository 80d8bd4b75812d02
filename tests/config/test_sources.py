"""Which source files a job depends on."""

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tensorldp.config import sources
from tensorldp.config.methods import METHODS
from tensorldp.config.sources import AROUND, FINDERS, source_digest, source_files
from tensorldp.config.syntax import syntax

ROOT = Path(__file__).parents[2]
RULES, SCRIPTS, NOTEBOOKS = (ROOT / "workflow" / "rules", ROOT / "workflow" / "scripts", ROOT / "notebooks")
CACHED = (
    syntax,
    source_digest,
    source_files,
    sources._searched,
    sources._steps,
    sources._called_names,
    sources._resolve,
    sources._modules,
    sources._defining,
    sources._label,
    sources._is_around,
    sources._packages_around,
)


@cache
def rules() -> dict[str, str]:
    """The text of every rule of the workflow, by its name or file; `use rule` takes over what it does not replace."""
    found = {}
    for path in sorted(RULES.glob("*.smk")):
        for block in re.split(r"\n(?=\s*rule\b)", "\n" + path.read_text())[1:]:
            name = re.match(r"\s*rule (\w+)", block)
            found[name.group(1) if name else path.stem] = block
    return found


def jobs() -> dict[str, list[dict[str, object]]]:
    """For every rule that runs something: arguments of `source_files` for some of its jobs."""
    found: dict[str, list[dict[str, object]]] = {}
    cells = [(name, "latent" if name == "latent" else "tldp-l") for name in METHODS]
    for rule, text in rules().items():
        if stage := re.search(r"\bsource\(\"(\w+)\"\)", text):
            found[rule] = [{"script": SCRIPTS / f"{stage.group(1)}.py"}]
        elif stage := re.search(r"\b(?:cell|privacy|scores)_source\(\"(\w+)\"\)", text):
            script = SCRIPTS / f"{stage.group(1)}.py"
            found[rule] = [{"script": script, "method": method, "mechanism": key} for method, key in cells]
        elif stage := re.search(r"\bmechanism_source\(\"(\w+)\"\)", text):
            script = SCRIPTS / f"{stage.group(1)}.py"
            found[rule] = [{"script": script, "mechanism": key} for _, key in cells]
        elif "notebook_source(" in text:
            found[rule] = [{"script": path} for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    return found


def labels(**job: object) -> set[str]:
    return {sources._label(path) for path in source_files(**job)}


def stage(name: str, method: str = "", mechanism: str = "") -> set[str]:
    return labels(script=SCRIPTS / f"{name}.py", method=method, mechanism=mechanism)


def test_every_rule_states_the_source_of_what_it_runs() -> None:
    running = {
        rule: text for rule, text in rules().items() if re.search(r"^ +(shell|script|run|notebook):", text, re.M)
    }
    assert len(running) > 15
    for rule, text in running.items():
        ran = re.search(r"\"stage (\w+)|scripts/(\w+)\.py", text)
        named = ran.group(1) or ran.group(2) if ran else None
        pattern = (
            rf"source=(cell_|mechanism_|privacy_|scores_)?source\(\"{named}\"\)"
            if named
            else r"source=(lambda wildcards: )?notebook_source\("
        )
        assert re.search(pattern, text), f"the rule {rule} needs the parameter source, as sources.smk explains"
    assert set(jobs()) == set(running)


def test_the_digest_of_every_rule_changes_with_each_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    class Edited:
        def __init__(self, path: Path) -> None:
            self.path = path

        def __call__(self, path: Path) -> object:
            return type("Edited", (), {"digest": b"edited", "looks": ()}) if path == self.path else syntax(path)

    for rule, each in jobs().items():
        for job in each:
            before, files = source_digest(**job), source_files(**job)
            assert len(files) >= 1, rule
            for path in files:
                with monkeypatch.context() as patch:
                    patch.setattr(sources, "syntax", Edited(path))
                    assert source_digest.__wrapped__(**job) != before, (rule, path)


def test_a_statement_counts_and_a_comment_or_a_docstring_does_not(tmp_path: Path) -> None:
    checked = 0
    for path in [*sources.ROOT.rglob("*.py"), *SCRIPTS.glob("*.py")]:
        text, seen = path.read_text(), []
        documented = re.sub(r'^"""', '"""Other words. ', text, count=1)
        commented = f"# a comment\n\n{text}\n# another\n"
        for i, version in enumerate((text, documented, commented, f"{text}\n_edited = 1\n")):
            copy = tmp_path / f"{path.stem}_{checked}_{i}.py"
            copy.write_text(version)
            seen.append(syntax(copy).digest)
        assert seen[0] == seen[1] == seen[2] != seen[3], path
        checked += 1
    assert checked > 150


def test_data_files_count_where_code_reads_them() -> None:
    assert "claims/catalogue.csv" in stage("claims")
    assert {"figures/page/report.html", "figures/page/report.css", "figures/page/explorer.js"} <= stage("report")
    assert "claims/catalogue.csv" not in stage("error_table")


def homes(module: ModuleType) -> set[str]:
    """The files in which what a module's names stand for was defined, as Python knows them."""
    names = {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in vars(module).values()
    }
    found = {str(name) for name in names if str(name).startswith("tensorldp.")}
    files = {name.removeprefix("tensorldp.").replace(".", "/") for name in found}
    return {f"{file}.py" for file in files if (sources.ROOT / f"{file}.py").is_file()}


@pytest.mark.parametrize(
    ("name", "method", "mechanism"),
    [
        ("claims", "", ""),
        ("audit", "federated", "llagp"),
        ("measure", "attacks", "tldp-l"),
        ("train", "pldp_fl", "pdpm"),
    ],
)
def test_nothing_that_modules_use_is_missed(name: str, method: str, mechanism: str) -> None:
    """Python itself is the oracle: where functions and classes that a module names were defined."""
    found = stage(name, method, mechanism)
    modules = [file for file in found if file.endswith(".py") and not file.startswith(("./", "studies/methods/"))]
    assert len(modules) > 20
    for file in modules:
        module = import_module("tensorldp." + file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        if file.endswith("__init__.py"):
            continue  # what it hands on counts where it is used
        missed = {home for home in homes(module) if not home.startswith((*AROUND, *FINDERS))} - found
        # of the settings of methods, a cell needs its own
        assert all(method and home.startswith("config/methods/") for home in missed), (file, missed)


def test_a_cell_depends_on_its_own_mechanism_and_method() -> None:
    laplace, tldp = stage("perturb", "learning", "laplace"), stage("perturb", "learning", "tldp-l")
    assert laplace ^ tldp <= {file for file in laplace | tldp if file.startswith(("mechanisms/", "privacy/curves/"))}
    assert "mechanisms/tldp.py" in tldp - laplace
    assert {"mechanisms/mvg.py", "mechanisms/privunit.py", "studies/methods/latent.py"} & (laplace | tldp) == set()
    assert {"mechanisms/mvg.py", "mechanisms/tldp.py", "mechanisms/privunit.py"} <= stage("error_table")


@pytest.mark.parametrize(
    ("stages", "method", "file", "counts"),
    [
        (("perturb",), "latent", "data/augment.py", True),
        (("measure",), "pldp_synthetic", "training/mean.py", True),
        (("train",), "private_sgd", "mechanisms/tvg_budget.py", True),
        (("guarantee",), "private_sgd", "privacy/curves/dp_sgd.py", True),
        (("evaluate",), "testing", "privacy/auditing/ceiling.py", True),
        (("audit",), "learning", "privacy/auditing/likelihood.py", True),  # `from tensorldp import privacy`
        (("perturb", "train", "evaluate"), "learning", "studies/guarantee.py", False),
        (("perturb", "train", "evaluate", "guarantee"), "learning", "privacy/auditing/likelihood.py", False),
        (("guarantee", "audit"), "learning", "studies/train.py", False),
        (("train", "evaluate"), "learning", "figures/style.py", False),
    ],
)
def test_a_stage_depends_on_what_it_calls(stages: tuple[str, ...], method: str, file: str, counts: bool) -> None:
    mechanism = {"latent": "latent", "private_sgd": "udn", "testing": "idn"}.get(method, "laplace")
    assert all((file in stage(name, method, mechanism)) == counts for name in stages)


def test_of_the_settings_a_cell_needs_those_of_its_method() -> None:
    assert "config/methods/learning.py" in stage("train", "learning", "laplace")
    assert "config/methods/pldp.py" in stage("train", "pldp_fl", "pdpm")
    assert "config/methods/pldp.py" not in stage("train", "learning", "laplace")


def test_figures_run_again_for_a_label_and_not_for_the_noise_of_a_mechanism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laplace, curves = sources.ROOT / "mechanisms" / "laplace.py", NOTEBOOKS / "tldp_type1.ipynb"
    text = laplace.read_text()
    assert "mechanisms/laplace.py" not in labels(script=curves)

    def digest(version: str) -> str:
        (tmp_path / "laplace.py").write_text(version)
        edited = syntax(tmp_path / "laplace.py")
        syntax.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(sources, "syntax", lambda path: edited if path == laplace else syntax(path))
            return source_digest.__wrapped__(curves)

    for line, counts in (
        ('label = "Laplace"', True),
        ('family = "laplace"', True),
        ('name = "laplace"', True),
        ("law = LAPLACE", False),
        ("/ self.epsilon", False),
    ):
        assert text.count(line) == 1
        changed = text.replace(line, line.replace("aplace", "aplacian") if counts else f"{line} + 0")
        assert (digest(changed) != digest(text)) == counts, line


def test_what_does_not_count_exists_and_says_why() -> None:
    for name, reason in AROUND.items():
        assert (sources.ROOT / name).exists()
        assert len(reason) > 5
        assert name not in stage("claims") | stage("train", "learning", "laplace")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "package"
    (root / "mechanisms").mkdir(parents=True)
    (root / "studies" / "methods").mkdir(parents=True)
    monkeypatch.setattr(sources, "ROOT", root)
    monkeypatch.chdir(tmp_path)
    return root


def clear() -> None:
    for function in CACHED:
        function.cache_clear()


def test_all_ways_to_import_are_followed(package: Path) -> None:
    (package / "mechanisms" / "__init__.py").write_text(
        "from tensorldp.mechanisms.one import f as g\nfrom .two import h\n"
    )
    for name in ("one", "two", "three"):
        (package / "mechanisms" / f"{name}.py").write_text("")
    for name in ("a", "b", "c", "d"):
        (package / f"{name}.py").write_text("")
    (package.parent / "beside.py").write_text("import other\n")
    (package.parent / "other.py").write_text("import numpy\n")
    cases = {
        "from tensorldp.a import (\n    x,\n    y as z,\n)": ["a.py"],
        "import tensorldp.b as q": ["b.py"],
        "def f():\n    from tensorldp import c": ["c.py"],
        "if x:\n    pass\nelse:\n    import tensorldp.d": ["d.py"],
        "from tensorldp.mechanisms import g": ["mechanisms/__init__.py", "mechanisms/one.py"],
        "from tensorldp import mechanisms": ["mechanisms/__init__.py", "mechanisms/one.py", "mechanisms/two.py"],
        "import beside": ["./beside.py", "./other.py"],
        'import_module(f"tensorldp.mechanisms.{name}")': [f"mechanisms/{n}.py" for n in ("one", "two", "three")],
    }
    for i, (text, expected) in enumerate(cases.items()):
        script = package.parent / f"script{i}.py"
        script.write_text(text)
        clear()
        found = labels(script=script) - {f"./script{i}.py"}
        assert set(expected) <= found <= {*expected, "mechanisms/__init__.py", "mechanisms/two.py"}, text
    clear()


def test_a_plug_in_counts_for_the_cells_that_choose_from_it(package: Path) -> None:
    (package / "mechanisms" / "__init__.py").write_text("")
    (package / "mechanisms" / "own.py").write_text('class Own:\n    name = "own"\n')
    (package / "studies" / "methods" / "__init__.py").write_text(
        'def make(name):\n    import_module(f"tensorldp.mechanisms.{name}")\n'
    )
    (package / "studies" / "methods" / "m.py").write_text("")
    (package.parent / "mine.py").write_text('import helper\nclass Mine:\n    name = "mine"\n')
    (package.parent / "helper.py").write_text("")
    (package.parent / "s.py").write_text("from tensorldp.studies.methods import make\nmake()\n")
    clear()

    def of(mechanism: str, *others: str) -> set[str]:
        return labels(script=package.parent / "s.py", method="m", mechanism=mechanism, plugins=("mine",), others=others)

    assert "./mine.py" not in of("own")
    assert "mechanisms/own.py" in of("own")
    assert {"./mine.py", "./helper.py"} <= of("mine")
    assert "mechanisms/own.py" not in of("mine")
    assert "./mine.py" in of("own", "mine")  # a data set or a model of that name
    clear()


def test_finding_sources_imports_nothing_heavy() -> None:
    import subprocess

    program = (
        "import sys; from pathlib import Path; from tensorldp.config.sources import source_digest;"
        f"source_digest(Path({str(SCRIPTS / 'claims.py')!r}));"
        "print([name for name in ('torch', 'numpy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
