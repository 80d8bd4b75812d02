rule report:
    input:
        metrics="results/metrics.parquet",
        figures=FIGURES + PRIVACY_FIGURES,
        audits="results/privacy/audits.csv",
        table5="results/tables/tldp_table5.csv",
        claims="results/claims.csv",
        code=code("figures/report.py", "figures/*.html"),
    output:
        "results/report.html",
    params:
        studies=json.dumps(
            [
                {"study": s.study, "title": s.title, "source": s.source, "figure": s.figure, "views": s.views}
                for s in PLAN.studies.values()
            ]
        ),
        settings=PLAN.settings.model_dump_json(),
    log:
        "logs/report.log",
    conda:
        "../../envs/tensorldp.yaml"
    shell:
        "stage report --metrics {input.metrics} --figures results/figures --table5 {input.table5} "
        "--studies {params.studies:q} "
        "--settings {params.settings:q} --out {output} > {log} 2>&1"
