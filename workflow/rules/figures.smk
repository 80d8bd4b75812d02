# of a run's own pictures and of the table that claims read with them, where a study has such
BESIDE = {"reconstruction": {"tables": "results/tables/reconstruction.csv", "pictures": "results/pictures/reconstruction.safetensors"}}
KEPT_PIECES = list(csv.DictReader(Path(kept("pieces.csv")).open())) if kept("pieces.csv") else []
REFERENCE_STUDIES = [load_study(STUDIES[study]) for study in sorted({piece["study"] for piece in KEPT_PIECES})]

# the figures of this run, and those of the kept results, which need no training and no data
OWN = drawings(PLAN.studies.values(), "figure", "results", drawn, lambda study: BESIDE.get(study, {}))
REFERENCE_OWN = drawings(
    REFERENCE_STUDIES,
    "reference",
    "results/reference_figures",
    lambda study: REFERENCE,
    lambda study: {"pictures": kept(f"{study}.safetensors")},
)
FIGURES = [path for drawing in OWN for path in drawing.figures]
PRIVACY_FIGURES = [
    f"results/figures/{figure}{ending}" for figure in ("privacy_profiles", "accuracy_ceiling") for ending in ENDINGS
]

# a rule for each, because they have different figures
for drawing in OWN + REFERENCE_OWN:

    rule:
        name: f"{drawing.kind}_{drawing.name}"
        input:
            metrics=f"{drawing.source}/metrics.parquet",
            series=f"{drawing.source}/series.parquet",
            standing=f"{drawing.source}/standing.csv",
            tables=drawing.beside.get("tables", []),
            pictures=drawing.beside.get("pictures", []),
            notebook=notebook_of(drawing.name),
        output:
            figures=[shown(path, drawing.title, SHOWS) for path in drawing.figures],
            data=f"{drawing.out}/figures/{drawing.name}.csv",
            tables=[f"{drawing.out}/tables/{table}.csv" for table in drawing.tables],
            notebook=f"{drawing.out}/notebooks/{drawing.name}.ipynb",
            page=f"{drawing.out}/notebooks/{drawing.name}.html",
        params:
            source=notebook_source(drawing.name),
            wanted=drawing.wanted,
            folder=subpath(output.data, parent=True),
            pictures=pictures_argument,
        priority: 1000
        log: f"logs/{drawing.kind}_figures/{drawing.name}.log"
        conda: "../../envs/tensorldp.yaml"
        resources: mem_mb=1000
        shell:
            "stage notebook {input.notebook:q} {output.notebook} "
            "-p metrics {input.metrics:q} -p folder {params.folder} {params.pictures} > {log} 2>&1"


rule reference_figures:
    input: [f"results/reference_figures/figures/{drawing.name}.csv" for drawing in REFERENCE_OWN]


# it draws runs of TLDP's first study, where they are planned; those of any other study have no such rows
CEILING_STUDY = "tldp_type1" if "tldp_type1" in PLAN.studies else FIRST
CEILING = f"results/studies/{CEILING_STUDY}"


rule privacy_figure:
    input:
        metrics=lambda wildcards: f"{CEILING}/metrics.parquet" if wildcards.figure == "accuracy_ceiling" else [],
        standing=lambda wildcards: f"{CEILING}/standing.csv" if wildcards.figure == "accuracy_ceiling" else [],
        notebook=f"{NOTEBOOKS}/{{figure}}.ipynb",
    output:
        figures=[shown(f"results/figures/{{figure}}{ending}", "Privacy of the mechanisms", SHOWS) for ending in ENDINGS],
        data="results/figures/{figure}.csv",
        notebook="results/notebooks/{figure}.ipynb",
        page="results/notebooks/{figure}.html",
    wildcard_constraints: figure="privacy_profiles|accuracy_ceiling"
    priority: 1000
    params:
        source=lambda wildcards: notebook_source(wildcards.figure),
        wanted=lambda wildcards: wanted(CEILING_STUDY) if wildcards.figure == "accuracy_ceiling" else "",
        metrics=lambda wildcards, input: f"-p metrics {input.metrics}" if input.metrics else "",
    log: "logs/figures/{figure}.log"
    conda: "../../envs/tensorldp.yaml"
    shell:
        "stage notebook {input.notebook:q} {output.notebook} "
        "{params.metrics} -p folder results/figures > {log} 2>&1"
