rule report:
    input:
        metrics="results/metrics.parquet",
        figures=FIGURES + PRIVACY_FIGURES,
        audits="results/privacy/audits.csv",
        table5="results/tables/tldp_table5.csv",
        table4="results/tables/tvg_table4.csv" if any(study.startswith("tvg_") for study in PLAN.studies) else [],
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
        table4=lambda wildcards, input: f"--table4 {input.table4}" if input.table4 else "",
    log:
        "logs/report.log",
    conda:
        "../../envs/tensorldp.yaml"
    shell:
        "stage report --metrics {input.metrics} --figures results/figures --table5 {input.table5} {params.table4} "
        "--studies {params.studies:q} "
        "--settings {params.settings:q} --out {output} > {log} 2>&1"
