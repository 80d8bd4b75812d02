PICTURES = {"reconstruction": "results/pictures/reconstruction.safetensors"}  # a run's own, by study
KEPT_PIECES = list(csv.DictReader(Path(kept("pieces.csv")).open())) if kept("pieces.csv") else []
REFERENCE_STUDIES = [load_study(STUDIES[study]) for study in sorted({piece["study"] for piece in KEPT_PIECES})]

# the figures of this run, and those of the kept results, which need no training and no data
OWN = drawings(PLAN.studies.values(), "figure", "results", drawn, lambda study: PICTURES.get(study, []))
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
            notebook=local(notebook_of(drawing.name)),
            wanted=drawing.wanted,
        output:
            figures=[shown(path, drawing.title, SHOWS) for path in drawing.figures],
            data=f"{drawing.out}/figures/{drawing.name}.csv",
            tables=[f"{drawing.out}/tables/{table}.csv" for table in drawing.tables],
            notebook=f"{drawing.out}/notebooks/{drawing.name}.ipynb",
            page=f"{drawing.out}/notebooks/{drawing.name}.html",
        params:
            source=notebook_source(drawing.name),
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


# the notebook that teaches what an epsilon is, which needs no results
rule lesson:
    input: local(notebook_of("what_epsilon_means"))
    output: "results/reference_figures/notebooks/what_epsilon_means.ipynb"
    params:
        source=notebook_source("what_epsilon_means"),
    log: "logs/reference_figures/what_epsilon_means.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=2000
    shell:
        "stage notebook {input:q} {output} > {log} 2>&1"


# what notebooks show of the kept results, in the notebooks themselves and in docs/figures; both are no outputs of a run
rule keep_figures:
    input:
        [f"results/reference_figures/notebooks/{drawing.name}.ipynb" for drawing in REFERENCE_OWN],
        rules.lesson.output,
    params:
        source=source("keep_figures"),
        notebooks=NOTEBOOKS,
        figures=KEPT_FIGURES,
    log: "logs/keep_figures.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell:
        "stage keep_figures {input:q} --notebooks {params.notebooks:q} --figures {params.figures:q} > {log} 2>&1"
