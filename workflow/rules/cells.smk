# The stages of a batch of cells. What is computed already is passed over, so that a job may have nothing to do.
rule perturb:
    input:
        unpack(records_of),
        batch=batch("scores"),
    output: temp(directory(f"results/perturbed/{BATCH}"))
    priority: priority(1)
    log: f"logs/perturb/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: gpu=GPU, mem_mb=4000, runtime=minutes(10)
    shell: "stage perturb --batch {input.batch} --out {output} > {log} 2>&1"


rule train:
    input:
        unpack(records_of),
        released=releases,
        batch=batch("scores"),
    output: temp(directory(f"results/models/{BATCH}"))
    params: released=argument("released")
    wildcard_constraints: study=studies_that(lambda method: not method.shares_models)
    priority: priority(2)
    log: f"logs/train/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: gpu=GPU, mem_mb=4000, runtime=minutes(60)
    shell: "stage train --batch {input.batch} {params.released} --out {output} > {log} 2>&1"


# kept among the results, because cells that are added later use them too
rule train_shared:
    input:
        unpack(records_of),
        batch=batch("models"),
    output: f"results/batches/{BATCH}/models.json"
    priority: priority(2)
    log: f"logs/train_shared/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: gpu=GPU, mem_mb=4000, runtime=minutes(60)
    shell: "stage train_shared --batch {input.batch} --out {output} > {log} 2>&1"


rule evaluate:
    input:
        unpack(records_of),
        released=releases,
        models=models_of,
        shared=shared_models,
        batch=batch("scores"),
    output: f"results/batches/{BATCH}/scores.json"
    params:
        released=argument("released"),
        models=argument("models"),
    wildcard_constraints: study=one_of(study.study for study in PLAN.studies.values() if METHODS[study.method].trains)
    priority: priority(3)
    log: f"logs/evaluate/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: gpu=GPU, mem_mb=4000, runtime=minutes(10)
    shell: "stage evaluate --batch {input.batch} {params.released} {params.models} --out {output} > {log} 2>&1"


# studies that go from the data to the metrics in one step
rule measure:
    input:
        unpack(records_of),
        batch=batch("scores"),
    output: f"results/batches/{BATCH}/scores.json"
    wildcard_constraints: study=studies_that(lambda method: not method.trains)
    priority: priority(3)
    log: f"logs/measure/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: gpu=GPU, mem_mb=4000, runtime=minutes(60)
    shell: "stage measure --batch {input.batch} --out {output} > {log} 2>&1"


# what the cells guarantee, and an audit of each
rule privacy:
    input:
        unpack(records_of),
        shared=shared_models,
        batch=batch("privacy"),
    output: f"results/batches/{BATCH}/privacy.json"
    priority: priority(2)
    log: f"logs/privacy/{BATCH}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=2000, runtime=minutes(10)
    shell: "stage privacy --batch {input.batch} --out {output} > {log} 2>&1"


# one cell by name, for those who want to look at it or to repeat it alone
rule cell:
    input: "results/batches/{study}/{dataset}/{variant}/{mechanism}/epsilon~{epsilon}/scores.json"
    output: f"results/metrics/{CELL}.json"
    params: source=source("cell")
    log: f"logs/cell/{CELL}.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell: "stage cell --scores {input} --out {output} > {log} 2>&1"
