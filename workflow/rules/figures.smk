PICTURES = {"reconstruction": "results/pictures/reconstruction.safetensors"}  # a run's own, by study
KEPT_PIECES = list(csv.DictReader(Path(kept("pieces.csv")).open())) if kept("pieces.csv") else []
REFERENCE_STUDIES = [load_study(STUDIES[study]) for study in sorted({piece["study"] for piece in KEPT_PIECES})]

# figures about privacy itself: profiles need no run; those of rooms have runs of their study, where those are planned
PRIVACY = [
    Drawing("privacy_profiles", "Privacy of the mechanisms", "figure", "results", ""),
    *(
        Drawing(name, one.title, "figure", "results", f"results/studies/{one.study if one.study in PLAN.studies else FIRST}")
        for name, one in named("pictures").items()
        if one.section == "privacy"
    ),
]

# the figures of this run, and those of the kept results, which need no training and no data
OWN = [*drawings(PLAN.studies.values(), "figure", "results", drawn, lambda study: PICTURES.get(study, [])), *PRIVACY]
REFERENCE_OWN = drawings(
    REFERENCE_STUDIES,
    "reference",
    "results/reference_figures",
    lambda study: REFERENCE,
    lambda study: kept(f"{study}.safetensors"),
)
FIGURES = [path for drawing in OWN for path in drawing.figures]

# a rule for each, because they have different figures
for drawing in OWN + REFERENCE_OWN:

    rule:
        name: f"{drawing.kind}_{drawing.name}"
        input:
            metrics=drawing.table("metrics.parquet"),
            series=drawing.table("series.parquet"),
            standing=drawing.table("standing.csv"),
            pictures=drawing.pictures,
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
            read=argument("metrics", "pictures", flag="-p "),
            tables=lambda wildcards, output: f"--tables {quoted(output.tables)}" if output.tables else "",
        priority: 1000
        log: f"logs/{drawing.kind}_figures/{drawing.name}.log"
        conda: "../../envs/tensorldp.yaml"
        resources: mem_mb=2000
        shell:
            "stage notebook {input.notebook:q} {output.notebook} "
            "{params.read} -p folder {params.folder} {params.tables} > {log} 2>&1"


rule reference_figures:
    input: [f"results/reference_figures/figures/{drawing.name}.csv" for drawing in REFERENCE_OWN]
