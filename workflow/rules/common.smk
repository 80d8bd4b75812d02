import atexit
import difflib
import gc
import hashlib
import inspect
import json
import os
import re
import shlex
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path

gc.disable()  # until the run starts: planning only allocates, and looking for garbage took a quarter of a large plan's time

try:
    from tensorldp.config.cell import check_name
    from tensorldp.config.grid import make_plan
    from tensorldp.config.methods import METHODS
    from tensorldp.config.methods.base import SYNTHETIC, ModelTraining
    from tensorldp.config.settings import parse_settings
    from tensorldp.config.sources import source_digest
    from tensorldp.config.study import load_study
    from tensorldp.config.syntax_kept import keep_syntax
    from tensorldp.data.catalogue import get as dataset_entry
    from tensorldp.data.catalogue import names as dataset_names
    from tensorldp.errors import InputError
    from tensorldp.kept.likeness import work
    from tensorldp.registration.kinds import MECHANISMS, NO_PRIVACY
    from tensorldp.runtime import environment
    from tensorldp.runtime.contents import content_digest
    from tensorldp.runtime.failures import last_words
    from tensorldp.runtime.files import write_text
    from tensorldp.studies.leftovers import clear_backups, clear_partial_folders, clear_spent_folders
    from tensorldp.studies.seeds import held, made_with, seeds_in
except ImportError as error:
    sys.exit(f"error: {error.name or error} is not installed here: run `make figures`, or `pip install -e '.[pipeline]'` first")

# The repository as the working directory sees it, which may be another folder, and that of another workflow.
BASE = Path(os.path.relpath(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]))
STUDIES = BASE / "workflow" / "studies"
SCRIPTS = BASE.absolute() / "workflow" / "scripts"
NOTEBOOKS = BASE / "notebooks"
REFERENCE = BASE / "results" / "reference"


keep_syntax(Path(".snakemake", "syntax.json"))


def validated_plan():
    """The plan of config.yaml, or the end of the run with one sentence."""
    try:
        settings = parse_settings(config)
        environment.export(settings, main_process=workflow.is_main_process)
        return make_plan(
            settings,
            STUDIES,
            mechanisms=MECHANISMS.names(),
            datasets=dataset_names(),
            precision=environment.precision(),
        )
    except InputError as error:
        sys.exit(f"error: {error}")


def reference_studies():
    """The studies with kept results, which `reference_figures` draws."""
    runs = REFERENCE / "runs.json"
    return [load_study(STUDIES / f"{name}.yaml") for name in json.loads(runs.read_text())] if runs.exists() else []


def kept_pictures(study):
    """The pictures among the kept results, if there are any."""
    kept = REFERENCE / f"{study}.safetensors"
    return str(kept) if kept.exists() else []


def kept_standing():
    """Where the guarantees of the kept results stand, if that is kept."""
    kept = REFERENCE / "standing.csv"
    return str(kept) if kept.exists() else []


PLAN = validated_plan()
PLUGINS = tuple(PLAN.settings.plugins)
REFERENCE_STUDIES = reference_studies()
GPU = environment.gpu_slots()

shell.prefix(environment.shell_functions(SCRIPTS.parent))  # `stage train ...` runs workflow/scripts/train.py


def one_of(values):
    """A wildcard constraint that admits just these values."""
    return "|".join(sorted(re.escape(value) for value in set(values))) or "(?!)"


wildcard_constraints:
    study=one_of(cell.study for cell in PLAN.cells),
    dataset=one_of([*dataset_names(), *PLAN.settings.own_datasets, *(cell.dataset for cell in PLAN.cells)]),
    mechanism=one_of(cell.mechanism for cell in PLAN.cells),
    variant="[^/]+",  # of these there may be thousands, and Snakemake searches a constraint's text for each file:
    epsilon="[^/]+",  # `cell_of` says that a cell is not of the run


CELL = "{study}/{dataset}/{variant}/{mechanism}/epsilon~{epsilon}"


def cell_of(wildcards):
    """The cell of a job's wildcards, or of a `key_of`; the end of the run with one sentence, if it has none such."""
    try:
        return PLAN.find(**{key: wildcards[key] for key in ("study", "dataset", "variant", "mechanism", "epsilon")})
    except KeyError:
        near = difflib.get_close_matches(path := CELL.format(**wildcards), [cell.path for cell in PLAN.cells], cutoff=0)
        sys.exit(f"error: the config asks for no cell {path}; of those that it asks for, the nearest are {', '.join(near)}")


def key_of(cell):
    """The wildcards of a cell."""
    return {
        "study": cell.study,
        "dataset": cell.dataset,
        "variant": cell.folder,
        "mechanism": cell.mechanism,
        "epsilon": cell.epsilon,
    }


def plan_of(wildcards):
    """The method of a cell, as the plan knows it."""
    return cell_of(wildcards).plan


def without_seeds(settings):
    """Settings of a cell as one JSON text, as Snakemake compares params as a set; `seeds.smk` sees to its seeds."""
    return json.dumps({key: value for key, value in settings.items() if key != "seeds"}, sort_keys=True)


@cache
def settings_of(cell, kind):
    """One of the cell's methods that give its settings, as text: several parameters of several jobs have it."""
    return without_seeds(getattr(cell, kind)())


def perturbation(wildcards):
    """What a release depends on."""
    return settings_of(cell_of(wildcards), "release_settings")


def training(wildcards):
    return settings_of(cell_of(wildcards), "settings")


def privacy(wildcards):
    """What a guarantee and an audit depend on: not the precision of networks."""
    return settings_of(cell_of(wildcards), "private_settings")


def shown(path, category, axis):
    """A figure as `snakemake --report` shows it, once: as a picture, under its study."""
    if not path.endswith(".png"):
        return path
    return report(path, category=category, labels={"figure": Path(path).stem, "axis": axis})


def files_of_study(*kinds):
    """The files of these kinds that the cells of a study have."""

    def files(wildcards):
        cells = PLAN.of(wildcards.study)
        return {
            name: [kind.format(**key_of(cell)) for cell in cells if kind != AUDIT or cell.private]
            for name, kind in kinds
        }

    return files


def data_folder(cell):
    """Where the records of a cell's study come from: the prepared data set, features of it, or nowhere."""
    if not cell.plan.data or cell.dataset == SYNTHETIC:
        return None
    if cell.method == "frontier":
        return f"results/representations/{cell.dataset}/{cell.factors.backbone}"
    if cell.release == "features":
        return f"results/features/{cell.dataset}/{cell.factors.backbone}"
    return f"resources/datasets/{cell.dataset}"


def data_of(wildcards, split=""):
    """A cell's data, one split or both: a small file stands for it, as large files would be compared by time."""
    folder = data_folder(cell_of(wildcards))
    if not folder:
        return {"digest": [], "data": []}
    splits = [f"{folder}/{name}.safetensors" for name in ([split] if split else ["train", "test"])]
    return {"digest": f"{folder}/digest.json", "data": ancient(splits[0] if split else splits)}


def data_argument(wildcards):
    folder = data_folder(cell_of(wildcards))
    return f"--data {folder}" if folder else ""


def models_of(wildcards):
    """The folder of the models that a cell is scored with."""
    return f"results/models/{cell_of(wildcards).model_path}"


def shared_models(wildcards):
    """The same where cells share models: a small file stands for them, as a folder would be compared by time."""
    if not plan_of(wildcards).shares_models:
        return {"trained": [], "models": []}
    trained = f"results/trained/{cell_of(wildcards).model_path}.json"
    return {"trained": trained, "models": ancient(models_of(wildcards))}


def models_argument(wildcards, input):
    return f"--models {input.models}" if input.models else ""


def weights_of(wildcards):
    """ImageNet weights, where the cell starts from them."""
    training = cell_of(wildcards).training
    pretrained = isinstance(training, ModelTraining) and training.pretrained
    return "resources/downloads/mobilenet_v2/source.json" if pretrained else []


def downloaded(wildcards):
    return [] if dataset_entry(wildcards.dataset).embedded else f"resources/downloads/{wildcards.dataset}/source.json"


def own_files(wildcards):
    """A user's own file, or all files of a folder of images."""
    path = Path(PLAN.settings.own_datasets[wildcards.dataset].path)
    return sorted(str(file) for file in path.glob("*/*") if file.is_file()) if path.is_dir() else [str(path)]


def own_content(wildcards):
    """What they hold: Snakemake itself would compare those above a megabyte by time."""
    try:
        return content_digest(own_files(wildcards), Path(".snakemake", "own.json"), keep=workflow.is_main_process)
    except InputError as error:
        sys.exit(f"error: {error}")


def finished(outputs):
    """The last line of a run: what of the results this run made, and where it truly is."""
    kinds = {"report": "results/report.html", "figures": "results/figures/", "numbers": "results/metrics.parquet"}
    made = [f"{kind}: {place}" for kind, place in kinds.items() if any(path.startswith(place) for path in outputs)]
    return f"\nFinished in {Path.cwd()}. {'   '.join(made)}".rstrip()


def steps_by_study(jobs):
    """How many of these jobs each study has."""
    return Counter(job.wildcards.study for job in jobs if hasattr(job.wildcards, "study"))


def warned(jobs, most=10):
    """What the logs of these jobs warn of, each warning once."""
    logs = sorted({str(log) for job in jobs for log in job.log})
    lines = [line for log in logs if Path(log).is_file() for line in Path(log).read_text(errors="replace").splitlines()]
    found = list(dict.fromkeys(line for line in lines if line.startswith("warning: ")))
    return found[:most] + ([f"warning: {len(found) - most} more in the files under logs"] if len(found) > most else [])


def backbone_weights(wildcards):
    """Only MobileNetV2 has pretrained weights to fetch."""
    if wildcards.backbone.startswith("mobilenet_v2"):
        return "resources/downloads/mobilenet_v2/source.json"
    return []


def releases(wildcards):
    """The released records to train on; none where the mechanism works inside the training."""
    return f"results/perturbed/{CELL}".format(**wildcards) if plan_of(wildcards).perturbs else []


def quoted(paths):
    """File names for a command line."""
    return " ".join(shlex.quote(str(path)) for path in paths)


def pictures_argument(wildcards, input):
    """The parameter of a notebook that shows pictures; without it, it draws the numbers alone."""
    return f"-p pictures {shlex.quote(str(input.pictures))}" if input.pictures else ""


# One function gives all inputs of a stage: Snakemake inspects and calls each function by itself, for every job.
def perturb_inputs(wildcards):
    return data_of(wildcards, "train")


def train_inputs(wildcards):
    return {"released": releases(wildcards), **data_of(wildcards, "train"), "weights": weights_of(wildcards)}


def evaluate_inputs(wildcards):
    shared = shared_models(wildcards)
    models = shared if shared["models"] else {"models": models_of(wildcards)}
    return {**models, "released": releases(wildcards), **data_of(wildcards, "test")}


def privacy_inputs(wildcards):
    return {**data_of(wildcards), **shared_models(wildcards)}
