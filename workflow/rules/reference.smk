# figures of the kept results: no training, no data
for study in REFERENCE_STUDIES:

    rule:
        name:
            f"reference_{study.study}"
        input:
            metrics=f"{REFERENCE}/metrics.parquet",
            series=f"{REFERENCE}/series.parquet",
            standing=kept_standing(),
            pictures=kept_pictures(study.study),
            notebook=f"{NOTEBOOKS}/{study.study}.ipynb",
        output:
            figures=[
                f"results/reference_figures/figures/{study.study}{view}.{kind}"
                for view in study.views
                for kind in ("png", "svg")
            ],
            data=f"results/reference_figures/figures/{study.study}.csv",
            tables=[f"results/reference_figures/tables/{table}.csv" for table in study.tables],
            notebook=f"results/reference_figures/notebooks/{study.study}.ipynb",
            page=f"results/reference_figures/notebooks/{study.study}.html",
        params:
            source=notebook_source(study.study),
            folder=subpath(output.data, parent=True),
            pictures=pictures_argument,
        log:
            f"logs/reference_figures/{study.study}.log",
        conda:
            "../../envs/tensorldp.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=30,
        shell:
            "notebook {input.notebook:q} {output.notebook} "
            "-p metrics {input.metrics:q} -p folder {params.folder} {params.pictures} > {log} 2>&1"


rule reference_figures:
    input:
        [f"results/reference_figures/figures/{study.study}.csv" for study in REFERENCE_STUDIES],
