rule report:
    input:
        metrics="results/metrics.parquet",
        series="results/series.parquet",
        figures=FIGURES + PRIVACY_FIGURES,
        audits="results/privacy/audits.csv",
        standing="results/standing.csv",
        guarantees="results/privacy/guarantees.csv",
        tables=TABLES,
        claims="results/claims.csv",
    output:
        "results/report.html",
    params:
        source=source("report"),
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
    log:
        "logs/report.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage report --metrics {input.metrics} --figures results/figures --tables {input.tables} "
        "--claims {input.claims} --audits {input.audits} --guarantees {input.guarantees} --standing {input.standing} "
        "--studies {params.studies:q} "
        "--settings {params.settings:q} --out {output} > {log} 2>&1"
