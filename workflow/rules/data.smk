rule download:
    output:
        "resources/downloads/{source}/source.json",
    params:
        source=source("download"),
        folder=subpath(output[0], parent=True),
    wildcard_constraints:
        source=one_of([*dataset_names(), "mobilenet_v2"]),
    priority: WAITED_FOR
    log:
        "logs/download/{source}.log",
    conda:
        "../../envs/tensorldp.yaml"
    retries: 1
    threads: 1
    resources:
        runtime=240,
    shell:
        "stage download --dataset {wildcards.source} --out {params.folder} > {log} 2>&1"


rule prepare:
    input:
        source=downloaded,
    output:
        multiext("resources/datasets/{dataset}/", "train.safetensors", "test.safetensors", "digest.json"),
    params:
        source=source("prepare"),
        folder=subpath(output[0], parent=True),
        downloads=lambda wildcards, input: f"--source {Path(input.source).parent}" if input.source else "",
    wildcard_constraints:
        dataset=one_of(dataset_names()),
    priority: priority_of_data
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=60,
    shell:
        "stage prepare --dataset {wildcards.dataset} {params.downloads} --out {params.folder} > {log} 2>&1"


rule prepare_own:
    input:
        ancient(own_files),
    output:
        multiext("resources/datasets/{dataset}/", "train.safetensors", "test.safetensors", "digest.json"),
    params:
        source=source("prepare_own"),
        content=own_content,
        folder=subpath(output[0], parent=True),
        entry=lambda wildcards: PLAN.settings.own_datasets[wildcards.dataset].model_dump_json(),
    wildcard_constraints:
        dataset=one_of(PLAN.settings.own_datasets),
    priority: priority_of_data
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=60,
    shell:
        "stage prepare_own --dataset {wildcards.dataset} --entry {params.entry:q} --out {params.folder} > {log} 2>&1"
