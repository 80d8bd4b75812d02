# What runs first: the study with the least to do, whole, so that a first figure is there soon; then what everything waits
# for, and guarantees and audits, as Snakemake looks at every waiting job again after each job and many short ones should
# not wait long; then study after study, each cell to its end before the next, so that few released copies of the data
# lie on the disk. Tables and figures are made as soon as they can be.
START = 20_000  # of the units of `work`, records that are trained on once: roughly what starting a job takes as long as


def work_of(study):
    """What a study costs, roughly: first whether it waits for a network to extract something, then work and jobs."""
    cells = PLAN.of(study)
    extracts = any(cell.method == "frontier" or cell.release == "features" for cell in cells)
    jobs = sum(len(cell.plan.rules) + 2 for cell in cells)
    return extracts, sum(work(cell) * len(cell.seeds) for cell in cells) + START * jobs


RANK = {study: rank for rank, study in enumerate(sorted(PLAN.studies, key=work_of))}
FIRST_USE = {}
for cell in PLAN.cells:
    FIRST_USE[cell.dataset] = min(RANK[cell.study], FIRST_USE.get(cell.dataset, len(RANK)))

AT_ONCE, FIRST_STUDY, WAITED_FOR, SHORT = 900, 800, 700, 600


def priority_of_stage(stage):
    """The priority of a stage of a cell, by its place among the stages (below 10)."""

    def priority(wildcards):
        rank = RANK[wildcards.study]
        return (FIRST_STUDY if rank == 0 else -10 * rank) + stage

    return priority


def priority_of_privacy(wildcards):
    return FIRST_STUDY if RANK[wildcards.study] == 0 else SHORT


def priority_of_data(wildcards):
    return FIRST_STUDY if FIRST_USE.get(wildcards.dataset) == 0 else WAITED_FOR
