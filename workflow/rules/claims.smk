rule claims:
    input:
        metrics="results/metrics.parquet",
        series="results/series.parquet",
        standing="results/standing.csv",
        tables=TABLES,
        studies=local([os.path.relpath(STUDIES[study]) for study in PLAN.studies]),
        wanted=lambda wildcards: wanted(),
    output: "results/claims.csv"
    params:
        source=source("claims"),
        settings=PLAN.settings.model_dump_json(exclude={"mirror", "device", "check_minutes"}),
    log: "logs/claims.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=2000
    shell:
        "stage claims --settings {params.settings:q} --results results "
        "--standing {input.standing} --report results/report.html --out {output} > {log} 2>&1"


rule report:
    input:
        metrics="results/metrics.parquet",
        series="results/series.parquet",
        figures=FIGURES,
        audits="results/privacy/audits.csv",
        standing="results/standing.csv",
        guarantees="results/privacy/guarantees.csv",
        tables=TABLES,
        claims="results/claims.csv",
        wanted=lambda wildcards: wanted(),
    output: "results/report.html"
    params:
        source=source("report"),
        notebooks=lambda wildcards: digest(*(notebook_source(drawing.name) for drawing in OWN)),
        studies=json.dumps(
            [
                {
                    "study": s.study,
                    "title": s.title,
                    "source": s.source,
                    "figure": s.figure,
                    "views": s.views,
                    "paper": s.section,
                }
                for s in PLAN.studies.values()
            ]
        ),
        settings=PLAN.settings.model_dump_json(),
        kept=["--kept", KEPT_FIGURES] if KEPT_FIGURES.is_dir() else [],
    log: "logs/report.log"
    conda: "../../envs/tensorldp.yaml"
    shell:
        "stage report --metrics {input.metrics} --figures results/figures --tables {input.tables} "
        "--claims {input.claims} --audits {input.audits} --guarantees {input.guarantees} --standing {input.standing} "
        "--studies {params.studies:q} {params.kept:q} "
        "--settings {params.settings:q} --out {output} > {log} 2>&1"


# the page and all that it is made from and that docs/getting-started.md lists, so that what is deleted is made again
RESULTS = [
    *("results/report.html", "results/claims.csv", *KINDS.values(), *TABLES, *FIGURES),
    *(
        f"results/{file}"
        for drawing in OWN
        for file in (f"figures/{drawing.name}.csv", *(f"notebooks/{drawing.name}.{kind}" for kind in ("ipynb", "html")))
    ),
]


# what the configuration has to run, printed; no output, as it depends on what is there now
rule plan:
    params:
        settings=PLAN.settings.model_dump_json(exclude={"mirror", "check_minutes"}),
        reference=REFERENCE,
        source=source("plan"),
    log: "logs/plan.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell:
        "stage plan --settings {params.settings:q} --results results --reference {params.reference:q} "
        "--out results/plan.csv 2> {log}"
