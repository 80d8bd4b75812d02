# Each job has a parameter `source`: a digest of its script and all that this imports, so that an edit of what could
# change its numbers runs it again. `tensorldp.config.sources` says what does not count, and why.
def source(script):
    """The digest of a rule without cells, for its parameter `source`."""
    return lambda wildcards: source_digest(SCRIPTS / f"{script}.py", plugins=PLUGINS)


def stage_source(script, cell):
    """The same of a stage of a cell, which has one method and one mechanism."""
    others = (cell.dataset, *re.split("[=,]", cell.variant)) if PLUGINS else ()  # what a plug-in may define
    return source_digest(
        SCRIPTS / f"{script}.py", method=cell.method, mechanism=cell.mechanism, plugins=PLUGINS, others=others
    )


def cell_source(script):
    return lambda wildcards: stage_source(script, cell_of(wildcards))


def model_cell(cell):
    """The cell whose models this one is scored with: itself, or where they are shared that of `none`."""
    if not cell.plan.shares_models:
        return cell
    base = cell.base.replace(",", "+")
    return PLAN.find(study=cell.study, dataset=cell.dataset, variant=base, mechanism=NO_PRIVACY, epsilon="inf")


def shared_source(cell):
    """What the models that cells share depend on; empty where there are none."""
    trainer = model_cell(cell)
    return [settings_of(trainer, "settings"), stage_source("train", trainer)] if cell.plan.shares_models else []


def scores_source(script):
    """Of a script that scores a cell and of the stages before it, so that scores are kept only where all are alike."""

    def digest(wildcards):
        cell = cell_of(wildcards)
        before = [stage_source(stage, cell) for stage in cell.plan.rules[:-1] if stage != "train_shared"]
        return short_text([*shared_source(cell), *before, stage_source(script, cell)])

    return digest


def privacy_source(script):
    """Of a guarantee or an audit, with the models that it may follow."""

    def digest(wildcards):
        cell = cell_of(wildcards)
        own = stage_source(script, cell)
        return short_text([*shared_source(cell), own]) if cell.plan.shares_models else own

    return digest


def short_text(texts):
    """One text of fixed length that changes with any of these."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


# one check a mechanism, an option making another one; a run takes account of the checks that it finds
CHECKED = {
    check_name(cell.mechanism, cell.options): (cell.mechanism, cell.options)
    for cell in PLAN.cells
    if cell.private
}


CHECKABLE = {name: (name, {}) for name in MECHANISMS.names() if name != NO_PRIVACY} | CHECKED


def mechanism_source(script):
    """The same of a check, which has one mechanism and no method."""
    return lambda wildcards: source_digest(
        SCRIPTS / f"{script}.py", mechanism=CHECKABLE[wildcards.checked][0], plugins=PLUGINS
    )


def notebook_source(notebook):
    """The same of a figure, from its notebook's code cells."""
    path = NOTEBOOKS / f"{notebook}.ipynb"
    if not path.is_file():
        sys.exit(f"error: the study {notebook} has no notebook: add notebooks/{notebook}.ipynb, which draws its figure")
    return source_digest(path, plugins=PLUGINS)
