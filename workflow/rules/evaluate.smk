rule evaluate:
    input:
        unpack(evaluate_inputs),
    output:
        update(SCORES),
    params:
        cell=training,
        source=scores_source("evaluate"),
        seeds=scored_seeds,
        made=made_scores,
        data=subpath(input.data, parent=True),
        released=lambda wildcards, input: f"--released {input.released}" if input.released else "",
    wildcard_constraints:
        study=one_of(study.study for study in PLAN.studies.values() if METHODS[study.method].trains),
    priority: priority_of_stage(3)
    log:
        f"logs/evaluate/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        gpu=GPU,
        mem_mb=4000,
        runtime=30,
    shell:
        "stage evaluate --data {params.data} {params.released} --models {input.models} "
        "--cell {params.cell:q} {params.seeds} {params.made} --out {output} > {log} 2>&1"
