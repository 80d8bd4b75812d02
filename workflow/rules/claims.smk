rule claims:
    input:
        metrics=METRICS,
        guarantees=GUARANTEES,
        standing="results/standing.csv",
        tables=TABLES,
        studies=[f"{STUDIES}/{study}.yaml" for study in PLAN.studies],
    output:
        "results/claims.csv",
    params:
        source=source("claims"),
        studies=STUDIES,
        settings=PLAN.settings.model_dump_json(exclude={"mirror", "device", "check_minutes"}),
    log:
        "logs/claims.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    shell:
        "stage claims --settings {params.settings:q} --studies {params.studies:q} --results results "
        "--standing {input.standing} --report results/report.html --out {output} > {log} 2>&1"
