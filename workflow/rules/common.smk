import atexit
import csv
import difflib
import json
import os
import re
import shlex
import sys
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

try:
    from tensorldp_papers.rooms import first_picture, named, rooms
    from tensorldp_papers.run.cell import check_name
    from tensorldp_papers.run.grid import alike, make_plan
    from tensorldp_papers.registries import METHODS
    from tensorldp_papers.run.method_plan import ModelTraining
    from tensorldp_papers.run.settings import parse_settings
    from tensorldp_papers.run.code_digest import job_of_cell, source_digest, source_listing
    from tensorldp_papers.run.study import load_study, study_files
    from tensorldp_papers.data.catalogue import get as dataset_entry
    from tensorldp_papers.data.catalogue import names as dataset_names, weights_names
    from tensorldp_papers.public.imagenet_classes import IMAGENET_CLASSES
    from tensorldp.errors import InputError
    from tensorldp.files import write_text
    from tensorldp.mechanism_table import MECHANISMS, NO_PRIVACY
    from tensorldp_papers.run import at_work, environment, forked, slurm
    from tensorldp_papers.data.fetch import content_digest
    from tensorldp_papers.run.failures import Witness, export_commands, finished, warnings_since
    from tensorldp_papers.run.store import Store, digest, note_code, write_batch
    from tensorldp_papers.run.study_lines import StudyLines
except ImportError as error:
    sys.exit(f"error: {error.name or error} is not installed here: run `make figures`, or `pip install -e '.[pipeline]'` first")

# The repository as the working directory sees it, which may be another folder, and that of another workflow.
BASE = Path(os.path.relpath(Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]))
SCRIPTS = BASE.absolute() / "workflow" / "scripts"
NOTEBOOKS = BASE / "notebooks"
REFERENCE = BASE / "results" / "reference"
KEPT_FIGURES = BASE / "docs" / "figures"


def validated_plan():
    """The plan of config.yaml, or the end of the run with one sentence."""
    try:
        settings = parse_settings(config)
        environment.export(settings, main_process=workflow.is_main_process)
        return make_plan(settings, environment.precision())
    except InputError as error:
        sys.exit(f"error: {error}")


export_commands()
PLAN = validated_plan()
STUDIES = study_files()
PLUGINS = tuple(PLAN.settings.plugins)
GPU = environment.gpu_slots()

WITNESS = Witness()
if workflow.is_main_process:
    WITNESS.attach()
    print(*slurm.altered(slurm.typed(sys.argv)), sep="\n", end="", file=sys.stderr)

AT_WORK = at_work.hold() if workflow.is_main_process else None
# PyTorch is imported while the run is planned, by a process that ends with this one
NOT_A_RUN = re.compile("-[Fkpqr]*n[Fkpqr]*|--(dry-?run|unlock|lint|summary|list|dag|rulegraph|report)")  # -np, too
FORKED = forked.start() if workflow.is_main_process and not any(map(NOT_A_RUN.fullmatch, sys.argv)) else None

STORE = Store(Path("results"))
STUDY_LINES = StudyLines(named("studies"))
if workflow.is_main_process and not any(Path(".snakemake", "locks").glob("*")):
    STORE.tidy()

shell.prefix(environment.shell_functions(SCRIPTS))  # `stage train ...` runs workflow/scripts/train.py


def one_of(values):
    """A wildcard constraint that admits just these values."""
    return "|".join(sorted(re.escape(value) for value in set(values))) or "(?!)"


# A batch is some cells of a study on a data set, which one job of each stage computes: a number, or one cell by name.
CELL = "{study}/{dataset}/{variant}/{mechanism}/epsilon~{epsilon}"
BATCH = "{study}/{dataset}/{batch}"
BATCHES = PLAN.batches()


wildcard_constraints:
    study=one_of(PLAN.studies),
    dataset=one_of([*dataset_names(), *PLAN.settings.own_datasets, *(cell.dataset for cell in PLAN.cells)]),
    mechanism=one_of(cell.mechanism for cell in PLAN.cells),
    variant="[^/]+",
    epsilon="[^/]+",
    batch=r"\d+|[^/]+/[^/]+/epsilon~[^/]+",


def key_of(wildcards):
    """A batch by its study, data set and number or name."""
    return wildcards.study, wildcards.dataset, wildcards.batch


def cells_of(wildcards):
    """The cells of a batch; the end of the run with one sentence, if it has none."""
    return cells_by(key_of(wildcards))


def cells_by(key):
    if key in BATCHES:
        return BATCHES[key]
    path = "/".join(key)
    paths = {cell.path: cell for cell in PLAN.cells}
    if path not in paths:
        near = difflib.get_close_matches(path, paths, cutoff=0)
        sys.exit(f"error: the config asks for no cell {path}; of those that it asks for, the nearest are {', '.join(near)}")
    return [paths[path]]


def of_studies(kind, study="{study}"):
    """A file of each batch of a study."""
    return [f"results/batches/{'/'.join(key)}/{kind}.json" for key in BATCHES if key[0] == study]


def weights_of(cell):
    """ImageNet weights, where the cell starts from them."""
    starts = isinstance(cell.training, ModelTraining) and cell.training.pretrained
    return "resources/downloads/mobilenet_v2" if starts else None


def records_of(wildcards):
    """The data of a batch: small files represent it, as large ones would be compared by time."""
    folders = sorted({folder for cell in cells_of(wildcards) if (folder := cell.data_folder)})
    splits = [f"{folder}/{split}.safetensors" for folder in folders for split in ("train", "test")]
    weights = sorted({f"{folder}/source.json" for cell in cells_of(wildcards) if (folder := weights_of(cell))})
    return {"digests": [f"{folder}/digest.json" for folder in folders], "data": ancient(splits), "weights": weights}


def shared_models(wildcards):
    """The models of other cells that the cells of a batch are scored with."""
    trainers = {cell.model_path for cell in cells_of(wildcards) if cell.plan.shares_models}
    return sorted(f"results/batches/{path}/models.json" for path in trainers)


def releases(wildcards):
    """The released records to train on; none where the mechanism works inside the training."""
    return f"results/perturbed/{BATCH}".format(**wildcards) if cells_of(wildcards)[0].plan.perturbs else []


def models_of(wildcards):
    """The models of a batch, where each cell has its own."""
    return [] if shared_models(wildcards) else f"results/models/{BATCH}".format(**wildcards)


def source(script, names=None, files=()):
    """The digest of the code of a script and of files, which choose mechanisms and methods by these names, or else any.

    It is a parameter for the run to compare; Snakemake in a cluster's job compares and notes none, and starts sooner.
    """
    return code_of(SCRIPTS / f"{script}.py", *files, names=names) if workflow.is_main_process else ""


def code_of(*files, names=None):
    return source_digest(files, names, PLUGINS)


def described(cells, kind):
    """Cells as their jobs read them: for their scores or their models, or for their privacy."""
    stages = {"models": ("train_shared",), "privacy": ("privacy",)}.get(kind, ())
    for group in alike(cells):
        cell = group[0]
        job = job_of_cell(cell, SCRIPTS, PLUGINS, stages)
        code = source_digest(*job)
        note_code(STORE.results, code, lambda: source_listing(*job))
        settings = cell.private_settings() if kind == "privacy" else cell.settings()
        shared = {"code": code, "data": cell.data_folder, "weights": weights_of(cell)}
        if cell.plan.shares_models and kind != "models":
            (shared["trainer"],) = described([PLAN.trainer(cell)], "models")
        yield from ({**shared, "settings": {**settings, "epsilon": one.epsilon}} for one in group)


@cache
def makers(dataset, folder):
    """What makes a folder of records: it changes with the code, and with a user's own file."""
    own = PLAN.settings.own_datasets.get(dataset)
    code = code_of(SCRIPTS / f"{'prepare_own' if own else 'prepare'}.py")
    entry = [code, own.model_dump_json(), own_content(dataset)] if own else [code]
    later = {"features": "extract_features", "representations": "represent"}.get(Path(folder).parts[1])
    return digest(*entry, *([code_of(SCRIPTS / f"{later}.py", names=frozenset())] if later else []))


# A job reads the file of its batch, whose name is a digest of the settings and the code of its cells. It is an input and
# no parameter: Snakemake compares parameters only where it has a record of them, and that is lost with .snakemake, or by
# Ctrl-C in the moment in which a job starts; a new file it sees by its time, too. The store decides which cells are
# computed (tensorldp_papers.run.store).
INPUTS = Path(".snakemake", "batches")


def noted(*texts):
    """A file that is named for these texts."""
    path = INPUTS / "noted" / digest(*texts)
    if not path.exists():
        write_text(path, "\n".join(texts))
    return str(path)


@cache
def batch_file(kind, key):
    """The file of a batch, for jobs whose command line cannot hold thousands of cells."""
    cells = cells_by(key)
    folders = sorted({(cell.dataset, folder) for cell in cells if (folder := cell.data_folder)})
    made = [makers(*folder) for folder in folders]
    lost = STORE.lost("/".join(key), kind)
    found = [*described(cells, kind)]
    return str(write_batch(INPUTS, found, made, lost))


def batch(kind):
    """The file of a batch for a job, which the run's lines about its studies count from now on."""

    def file(wildcards):
        key = key_of(wildcards)
        STUDY_LINES.want(kind, key, len(cells_by(key)))
        return batch_file(kind, key)

    return file


@cache
def wanted(*studies):
    """A file that is another one with anything that results of these studies, or of all, are made from.

    Snakemake makes no file again from which it needs nothing. So what reads results has this input: else a run that
    fails after a change would be the last one to know of it.
    """
    keys = sorted(key for key in BATCHES if not studies or key[0] in studies)
    batches = (batch_file(kind, key) for key in keys for kind in ("scores", "privacy"))
    return noted(", ".join(studies) or "all", digest(*batches))


def wanted_by(study):
    """`wanted` of a study for a job that may read none."""
    return lambda wildcards: wanted(study) if study else []


def studies_that(chosen):
    """A wildcard constraint that admits the studies with such a method."""
    return one_of(study.study for study in PLAN.studies.values() if chosen(METHODS[study.method]))


def minutes(each):
    """The time of a job, from that of a cell."""
    return lambda wildcards, attempt: attempt * min(each * len(cells_of(wildcards)), 2880)


def argument(*names, flag="--"):
    """The options with inputs of a job, of those that it has."""
    return lambda wildcards, input: " ".join(f"{flag}{name} {quoted(input[name])}" for name in names if input.get(name))


def quoted(paths):
    """One or several file names for a command line."""
    return " ".join(map(shlex.quote, [paths] if isinstance(paths, str) else paths))


def stages_of(study):
    """Whether a study waits for a network to extract something, and how many stages its cells pass."""
    cells = PLAN.of(study)
    return any(cell.factors.named().get("backbone") for cell in cells), sum(len(cell.plan.rules) for cell in cells)


FIRST = min(PLAN.studies, key=stages_of)


def priority(stage):
    """Later stages go first, so that few releases lie on the disk; and one study, so that a first figure is there soon."""
    return lambda wildcards: stage + (100 if getattr(wildcards, "study", "") == FIRST else 0)


def downloaded(wildcards):
    return [] if dataset_entry(wildcards.dataset).embedded else f"resources/downloads/{wildcards.dataset}/source.json"


def own_files(dataset):
    """A user's own file, or all files of a folder of images."""
    path = Path(PLAN.settings.own_datasets[dataset].path)
    return sorted(str(file) for file in path.glob("*/*") if file.is_file()) if path.is_dir() else [str(path)]


def own_entry(dataset):
    """What the config says of a user's own data set."""
    return PLAN.settings.own_datasets[dataset].model_dump_json()


@cache
def own_content(dataset):
    """What they hold: Snakemake itself would compare those above a megabyte by time."""
    try:
        return content_digest(own_files(dataset), Path(".snakemake", "own.json"), keep=workflow.is_main_process)
    except InputError as error:
        sys.exit(f"error: {error}")


def backbone_weights(wildcards):
    """The pretrained weights to fetch, of the backbones that have some."""
    name = wildcards.backbone
    sets = weights_names() if name == "imagenet_160" else ["mobilenet_v2"] if name.startswith("mobilenet_v2") else []
    if name == "gradients" and wildcards.dataset in IMAGENET_CLASSES:  # they label its public images
        sets = ["efficientnet_lite2"]
    return [f"resources/downloads/{weights}/source.json" for weights in sets]


def weights_argument(wildcards, input):
    folders = [str(Path(path).parent) for path in input if path.startswith("resources/downloads/")]
    return f"--weights {' '.join(folders)}" if folders else ""


def notebook_of(name):
    """The notebook of a figure: in `notebooks`, ours or one beside config.yaml; of a paper from outside, in its room."""
    room = STUDIES[name].parent if name in STUDIES else NOTEBOOKS
    places = [folder / f"{name}.ipynb" for folder in (NOTEBOOKS, Path("notebooks"), room)]
    path = next((path for path in places if path.is_file()), None)
    if path is None:
        sys.exit(f"error: the study {name} has no notebook: add notebooks/{name}.ipynb, which draws its figure")
    return os.path.relpath(path)


def notebook_source(name):
    """The digest of the code of a figure, from its notebook's code cells."""
    return code_of(Path(notebook_of(name))) if workflow.is_main_process else ""


ENDINGS = (".png", "_dark.png", ".svg", "_phone.svg")  # of a figure's files
SHOWS = {"": "main", "_mechanisms": "all mechanisms", "_guaranteed": "guaranteed epsilon"}  # what a figure shows, in Snakemake's own report


class Drawing(NamedTuple):
    """What a notebook draws, from tables of metrics if it has a source: the figures and tables of a study, or one picture."""

    name: str
    title: str
    kind: str
    out: str
    source: str
    views: tuple = ("",)
    tables: tuple = ()
    pictures: str | list = []

    @property
    def figures(self):
        return [f"{self.out}/figures/{self.name}{view}{ending}" for view in self.views for ending in ENDINGS]

    def table(self, name):
        return f"{self.source}/{name}" if self.source else []

    def wanted(self, wildcards):
        """`wanted` of the studies that it draws; kept results change with nothing here."""
        if self.kind != "figure" or not self.source:
            return []
        source = Path(self.source)
        return wanted(*([source.name] if source.parent == Path("results/studies") else []))


def drawings(studies, kind, out, source_of, pictures_of):
    """The drawings of some studies, the two pictures that README and report begin with, where a study has them, and those
    about privacy itself: profiles need no run; those of rooms have runs of their study, where that is planned. A study
    without views, such as a search for settings, has no drawing.
    """
    found = [
        Drawing(s.study, s.title, kind, out, source_of(s.study), tuple(s.views), tuple(s.tables), pictures_of(s.study))
        for s in studies
        if s.views
    ]
    names = {s.study for s in studies}
    if names & {row.study for row in first_picture()}:
        found.append(Drawing("epsilon_you_get", "The epsilon that you get", kind, out, source_of("")))
    for name, picture in named("pictures").items():
        if (of := picture.study) in names and picture.section == "first":
            found.append(Drawing(name, picture.title, kind, out, source_of(of), pictures=pictures_of(of)))
        elif picture.section == "privacy":
            found.append(Drawing(name, picture.title, kind, out, source_of(of if of in names else FIRST)))
    found.append(Drawing("privacy_profiles", "Privacy of the mechanisms", kind, out, ""))
    return found


def shown(path, category, shows):
    """A figure as `snakemake --report` shows it, once: as a light picture, under its study."""
    if not path.endswith(".png") or path.endswith("_dark.png"):
        return path
    ending = next((view for view in shows if view and path.endswith(f"{view}.png")), "")
    return report(path, category=category, labels={"figure": Path(path).stem, "shows": shows[ending]})


def kept(name):
    """A file of the kept results, if it is there."""
    return str(REFERENCE / name) if (REFERENCE / name).exists() else []


def drawn(study):
    """The folder of the tables that figures draw: a study's own, those of all where none is named.

    Some draw other studies, too, those of the kept results rather than those of the run.
    """
    others = study and PLAN.studies[study].draws_others and not Path("results/reference/metrics.parquet").exists()
    return "results" if not study or others else f"results/studies/{study}"


# one check a mechanism, an option making another one; a run takes account of the checks that it finds
CHECKED = {check_name(cell.mechanism, cell.options): (cell.mechanism, cell.options) for cell in PLAN.cells if cell.private}
CHECKABLE = {name: (name, {}) for name in MECHANISMS.names() if name != NO_PRIVACY} | CHECKED
