# what the configuration has to run, printed; no output, as it follows from what lies there now
rule plan:
    params:
        settings=PLAN.settings.model_dump_json(exclude={"mirror", "check_minutes"}),
        reference=REFERENCE,
        source=source("plan"),
    log:
        "logs/plan.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage plan --settings {params.settings:q} --results results --reference {params.reference:q} "
        "--out results/plan.csv 2> {log}"
