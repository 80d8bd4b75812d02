# studies that go from the data to the metrics in one step
rule measure:
    input:
        unpack(data_of),
    output:
        update(SCORES),
    params:
        cell=training,
        source=scores_source("measure"),
        seeds=scored_seeds,
        made=made_scores,
        data=data_argument,
    wildcard_constraints:
        study=one_of(study.study for study in PLAN.studies.values() if not METHODS[study.method].trains),
    priority: priority_of_stage(3)
    log:
        f"logs/measure/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        gpu=GPU,
        mem_mb=4000,
        runtime=120,
    shell:
        "stage measure {params.data} --cell {params.cell:q} {params.seeds} {params.made} --out {output} > {log} 2>&1"
