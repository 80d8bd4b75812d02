FIGURES = [
    f"results/figures/{study.study}{view}.{kind}"
    for study in PLAN.studies.values()
    for view in study.views
    for kind in ("png", "svg")
]
PRIVACY_FIGURES = [
    f"results/figures/{figure}.{kind}"
    for figure in ("privacy_profiles", "accuracy_ceiling")
    for kind in ("png", "svg")
]


STUDY_TABLES = {"reconstruction": ["results/tables/reconstruction.csv"]}
STUDY_PICTURES = {"reconstruction": ["results/pictures/reconstruction.safetensors"]}


AXES = {"": "printed epsilon", "_guaranteed": "guaranteed epsilon", "_pure": "pure epsilon"}


def drawn(study):
    """The folder of the tables that a study's figures draw: its own, but of the frontier the papers' studies too."""
    kept = Path("results/reference/metrics.parquet").exists()  # which it draws instead of those of the run
    return "results" if study == "frontier" and not kept else f"results/studies/{study}"


# a rule for each study, because studies have different views
for study in PLAN.studies.values():

    rule:
        name:
            f"figure_{study.study}"
        input:
            metrics=f"{drawn(study.study)}/metrics.parquet",
            series=f"{drawn(study.study)}/series.parquet",
            standing=f"{drawn(study.study)}/standing.csv",
            tables=STUDY_TABLES.get(study.study, []),
            pictures=STUDY_PICTURES.get(study.study, []),
            notebook=f"{NOTEBOOKS}/{study.study}.ipynb",
        output:
            figures=[
                shown(f"results/figures/{study.study}{view}.{kind}", study.title, AXES.get(view, "its own"))
                for view in study.views
                for kind in ("png", "svg")
            ],
            data=f"results/figures/{study.study}.csv",
            tables=[f"results/tables/{table}.csv" for table in study.tables],
            notebook=f"results/notebooks/{study.study}.ipynb",
            page=f"results/notebooks/{study.study}.html",
        params:
            source=notebook_source(study.study),
            folder=subpath(output.data, parent=True),
            pictures=pictures_argument,
        priority: AT_ONCE
        log:
            f"logs/figures/{study.study}.log",
        conda:
            "../../envs/tensorldp.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=30,
        shell:
            "notebook {input.notebook:q} {output.notebook} "
            "-p metrics {input.metrics} -p folder {params.folder} {params.pictures} > {log} 2>&1"
