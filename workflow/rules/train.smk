rule train:
    input:
        unpack(train_inputs),
    output:
        models=temp(directory(f"results/models/{CELL}")),
    params:
        cell=training,
        source=cell_source("train"),
        seeds=seeds_without_scores,
        made="",
        digest="",
        data=subpath(input.data, parent=True),
        released=lambda wildcards, input: f"--released {input.released}" if input.released else "",
        weights=lambda wildcards, input: f"--weights {Path(input.weights).parent}" if input.weights else "",
    wildcard_constraints:
        study=one_of(study.study for study in PLAN.studies.values() if not METHODS[study.method].shares_models),
    priority: priority_of_stage(2)
    log:
        f"logs/train/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        gpu=GPU,
        mem_mb=4000,
        runtime=60,
    shell:
        "stage train --data {params.data} {params.released} {params.weights} --cell {params.cell:q} "
        "{params.seeds} {params.made} {params.digest} --out {output.models} > {log} 2>&1"


# kept, because cells that are added later use them too
use rule train as train_shared with:
    output:
        models=update(directory(f"results/models/{CELL}")),
        digest=f"results/trained/{CELL}.json",
    params:
        seeds=trained_seeds,
        made=made_models,
        digest=lambda wildcards, output: f"--digest {shlex.quote(output.digest)}",
    wildcard_constraints:
        study=one_of(study.study for study in PLAN.studies.values() if METHODS[study.method].shares_models),
