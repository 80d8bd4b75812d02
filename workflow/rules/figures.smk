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


AXES = {"": "printed epsilon", "_guaranteed": "guaranteed epsilon", "_pure": "pure epsilon"}
# of a run's own pictures and of the table that claims look at beside them, where a study has such
BESIDE = {"reconstruction": {"tables": "results/tables/reconstruction.csv", "pictures": "results/pictures/reconstruction.safetensors"}}
KEPT_PIECES = list(csv.DictReader(Path(kept("pieces.csv")).open())) if kept("pieces.csv") else []
REFERENCE_STUDIES = [load_study(STUDIES[study]) for study in sorted({piece["study"] for piece in KEPT_PIECES})]
# the figures of this run, and those of the kept results, which need no training and no data
DRAWN = [(study, "figure", "results", drawn(study.study), BESIDE.get(study.study, {})) for study in PLAN.studies.values()]
DRAWN += [
    (study, "reference", "results/reference_figures", REFERENCE, {"pictures": kept(f"{study.study}.safetensors")})
    for study in REFERENCE_STUDIES
]
# a rule for each study, because studies have different views
for study, kind, out, tables, beside in DRAWN:

    rule:
        name: f"{kind}_{study.study}"
        input:
            metrics=f"{tables}/metrics.parquet",
            series=f"{tables}/series.parquet",
            standing=f"{tables}/standing.csv",
            tables=beside.get("tables", []),
            pictures=beside.get("pictures", []),
            notebook=notebook_of(study.study),
        output:
            figures=[
                shown(f"{out}/figures/{study.study}{view}.{ending}", study.title, AXES.get(view, "its own"))
                for view in study.views
                for ending in ("png", "svg")
            ],
            data=f"{out}/figures/{study.study}.csv",
            tables=[f"{out}/tables/{table}.csv" for table in study.tables],
            notebook=f"{out}/notebooks/{study.study}.ipynb",
            page=f"{out}/notebooks/{study.study}.html",
        params:
            source=notebook_source(study.study),
            folder=subpath(output.data, parent=True),
            pictures=pictures_argument,
        priority: 1000
        log: f"logs/{kind}_figures/{study.study}.log"
        conda: "../../envs/tensorldp.yaml"
        resources: mem_mb=1000
        shell:
            "stage notebook {input.notebook:q} {output.notebook} "
            "-p metrics {input.metrics:q} -p folder {params.folder} {params.pictures} > {log} 2>&1"


rule reference_figures:
    input: [f"results/reference_figures/figures/{study.study}.csv" for study in REFERENCE_STUDIES]


# it draws runs of TLDP's first study, where they are planned; those of any other study have no such rows
CEILING = f"results/studies/{'tldp_type1' if 'tldp_type1' in PLAN.studies else FIRST}"


rule privacy_figure:
    input:
        metrics=lambda wildcards: f"{CEILING}/metrics.parquet" if wildcards.figure == "accuracy_ceiling" else [],
        standing=lambda wildcards: f"{CEILING}/standing.csv" if wildcards.figure == "accuracy_ceiling" else [],
        notebook=f"{NOTEBOOKS}/{{figure}}.ipynb",
    output:
        figures=[
            shown("results/figures/{figure}.png", "Privacy of the mechanisms", "its own"),
            "results/figures/{figure}.svg",
        ],
        data="results/figures/{figure}.csv",
        notebook="results/notebooks/{figure}.ipynb",
        page="results/notebooks/{figure}.html",
    wildcard_constraints: figure="privacy_profiles|accuracy_ceiling"
    priority: 1000
    params:
        source=lambda wildcards: notebook_source(wildcards.figure),
        metrics=lambda wildcards, input: f"-p metrics {input.metrics}" if input.metrics else "",
    log: "logs/figures/{figure}.log"
    conda: "../../envs/tensorldp.yaml"
    shell:
        "stage notebook {input.notebook:q} {output.notebook} "
        "{params.metrics} -p folder results/figures > {log} 2>&1"
