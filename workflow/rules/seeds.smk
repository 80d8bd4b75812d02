from snakemake.io import IOFile

# A further seed is computed alone and one less computes nothing. Results hold seeds beside each other, with a text of the
# settings, code and data that made them (tensorldp.studies.seeds), and a job computes those that its file lacks. What
# starts it is its parameter `seeds`, which Snakemake compares as it does all others: those that the run wants and those
# that the file was left with, by Snakemake's own record of it.
RULES_OF_CELLS = {"perturb", "train", "train_shared", "evaluate", "measure", "guarantee", "audit"}
FOLDERS_OF_CELLS = ("results/perturbed/", "results/models/", "results/metrics/", "results/privacy/")
SCORES = f"results/metrics/{CELL}.json"
SCORE_MODELS = f"results/models/{CELL}"
GUARANTEE = f"results/privacy/guarantees/{CELL}.json"
AUDIT = f"results/privacy/audits/{CELL}.json"


def seeds_to_have(path, settings, source):
    """The seeds of a cell that the run wants, and those in its file that the same settings and code have made."""

    def seeds(wildcards):
        wanted = set(cell_of(wildcards).seeds)
        file = IOFile(path.format(**wildcards), rule=None)
        before = (workflow.persistence.params(file) or []) if Path(file).exists() else []
        if {repr(settings(wildcards)), repr(source(wildcards))} <= set(before):
            noted = [text[1:-1] for text in before if text.startswith("'--seeds ")]
            wanted.update(int(seed) for text in noted for seed in text.split()[1:])
        return f"--seeds {' '.join(map(str, sorted(wanted)))}"

    return seeds


def source_of_scores(wildcards):
    return scores_source(plan_of(wildcards).rules[-1])(wildcards)


scored_seeds = seeds_to_have(SCORES, training, source_of_scores)
trained_seeds = seeds_to_have(SCORE_MODELS, training, cell_source("train"))
guaranteed_seeds = seeds_to_have(GUARANTEE, privacy, privacy_source("guarantee"))


def seeds_of_guarantee(wildcards):
    """Those of a guarantee that differs by seed; none of another, which therefore is not computed again."""
    return guaranteed_seeds(wildcards) if plan_of(wildcards).guarantee_by_seed else ""


def seed_of_audit(wildcards):
    """Whose model an audit is of, where cells share models: the lowest seed that they are of."""
    if not plan_of(wildcards).shares_models:
        return ""
    trainer = model_cell(cell_of(wildcards))
    found = trained_seeds(key_of(trainer))
    return f"--seed {found.split()[1]}"


# What a function of `output` gives is no parameter that Snakemake compares: a release or a model has the seeds that
# scores are still to come of, and the parameters of those say when.
def seeds_without_scores(wildcards, output):
    scores = SCORES.format(**wildcards)
    return f"{scored_seeds(wildcards)} --scores {shlex.quote(scores)} --made {scores_made(wildcards)}"


def made_scores(wildcards, output):
    return f"--made {scores_made(wildcards)}"


def made_models(wildcards, output):
    return f"--made {short_text([training(wildcards), cell_source('train')(wildcards)])}"


def made_audit(wildcards, output):
    """A further seed's model makes audits of shared models run, which then keep what they found."""
    if not plan_of(wildcards).shares_models:
        return ""
    texts = [privacy(wildcards), privacy_source("audit")(wildcards), seed_of_audit(wildcards)]
    return f"--made {short_text(texts)}"


def made_guarantee(wildcards, output):
    return f"--made {short_text([privacy(wildcards), privacy_source('guarantee')(wildcards)])}"


def scores_made(wildcards):
    return short_text([training(wildcards), source_of_scores(wildcards)])


def seeds_with_scores(cell):
    """The seeds that a cell's file of scores holds, made as the run would make them now."""
    wildcards = key_of(cell)
    folder = data_folder(cell)
    made = made_with(scores_made(wildcards), Path(folder) if folder else None)
    return seeds_in(held(Path(SCORES.format(**wildcards)), made))


def list_of_cells(wildcards):
    """The file that names a study's cells and their seeds to jobs whose command line cannot hold thousands of names.

    Its own name changes with what it says, so that plans beside each other keep apart.
    """
    cells = PLAN.of(wildcards.study)
    text = "".join(f"{cell.path}\t{' '.join(map(str, sorted(cell.seeds)))}\n" for cell in cells)
    path = Path(".snakemake") / "cells" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.txt"
    if not path.exists():
        write_text(path, text)
    return str(path)


def cells_are_forced():
    """Whether the command line asks for cells to be computed again, whatever is there."""
    asked = workflow.dag_settings  # which Snakemake has when a run starts, not yet when it reads this
    names = {*asked.forcerun, *(asked.targets if asked.forcetargets else ())}
    return asked.forceall or any(str(n) in RULES_OF_CELLS or str(n).startswith(FOLDERS_OF_CELLS) for n in names)


if workflow.is_main_process:
    clear_backups(Path("."))
    clear_partial_folders(PLAN.cells, Path("."), seeds_with_scores)
