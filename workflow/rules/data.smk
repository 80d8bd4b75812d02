rule download:
    output: "resources/downloads/{source}/source.json"
    params:
        source=source("download"),
        folder=subpath(output[0], parent=True),
    wildcard_constraints: source=one_of([*dataset_names(), *weights_names()])
    priority: 10
    log: "logs/download/{source}.log"
    conda: "../../envs/tensorldp.yaml"
    retries: 1
    resources: runtime=240
    shell: "stage download --dataset {wildcards.source} --out {params.folder} > {log} 2>&1"


rule prepare:
    input: source=downloaded
    output:
        multiext("resources/datasets/{dataset}/", "train.safetensors", "test.safetensors", "copies.json", "digest.json"),
    params:
        source=source("prepare"),
        folder=subpath(output[0], parent=True),
        downloads=lambda wildcards, input: f"--source {Path(input.source).parent}" if input.source else "",
    wildcard_constraints: dataset=one_of(dataset_names())
    priority: 10
    log: "logs/prepare/{dataset}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=6000, runtime=60
    shell: "stage prepare --dataset {wildcards.dataset} {params.downloads} --out {params.folder} > {log} 2>&1"


rule prepare_own:
    input:
        ancient(lambda wildcards: own_files(wildcards.dataset)),
        made=lambda wildcards: noted(own_entry(wildcards.dataset), own_content(wildcards.dataset)),
    output:
        multiext("resources/datasets/{dataset}/", "train.safetensors", "test.safetensors", "copies.json", "digest.json"),
    params:
        source=source("prepare_own"),
        folder=subpath(output[0], parent=True),
        entry=lambda wildcards: own_entry(wildcards.dataset),
    wildcard_constraints: dataset=one_of(PLAN.settings.own_datasets)
    priority: 10
    log: "logs/prepare/{dataset}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=6000, runtime=60
    shell:
        "stage prepare_own --dataset {wildcards.dataset} --entry {params.entry:q} --out {params.folder} > {log} 2>&1"


rule extract_features:
    input:
        digest="resources/datasets/{dataset}/digest.json",
        data=ancient("resources/datasets/{dataset}/train.safetensors"),
        weights=backbone_weights,
    output:
        multiext("results/features/{dataset}/{backbone}/", "train.safetensors", "test.safetensors", "digest.json",
                 "record.json"),
    params:
        source=source("extract_features", names=frozenset()),
        stage="extract_features",
        data=subpath(input.data, parent=True),
        folder=subpath(output[0], parent=True),
        weights=weights_argument,
    wildcard_constraints: backbone="[a-z0-9_]+"
    priority: 10  # everything else waits for it
    log: "logs/extract_features/{dataset}/{backbone}.log"
    conda: "../../envs/tensorldp.yaml"
    threads: 4
    resources: gpu=GPU, mem_mb=6000, runtime=120
    shell:
        "stage {params.stage} --data {params.data} --backbone {wildcards.backbone} {params.weights} "
        "--threads {threads} --out {params.folder} > {log} 2>&1"


use rule extract_features as represent with:
    output:
        multiext("results/representations/{dataset}/{backbone}/", "train.safetensors", "test.safetensors",
                 "public.safetensors", "digest.json", "record.json"),
    params:
        source=source("represent", names=frozenset()),
        stage="represent",
        data=subpath(input.data, parent=True),
        folder=subpath(output[0], parent=True),
        weights=weights_argument,
    log: "logs/represent/{dataset}/{backbone}.log"
    resources: mem_mb=4000, runtime=120
