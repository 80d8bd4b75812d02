rule download:
    output:
        "resources/downloads/{source}/source.json",
    params:
        folder=subpath(output[0], parent=True),
    wildcard_constraints:
        source=one_of([*dataset_names(), "mobilenet_v2"]),
    log:
        "logs/download/{source}.log",
    conda:
        "../../envs/tensorldp.yaml"
    retries: 1
    shell:
        "stage download --dataset {wildcards.source} --out {params.folder} > {log} 2>&1"


rule prepare:
    input:
        source=downloaded,
        code=code("data/*.py"),
    output:
        multiext("resources/datasets/{dataset}/", "train.safetensors", "test.safetensors", "digest.json"),
    params:
        folder=subpath(output[0], parent=True),
        source=lambda wildcards, input: f"--source {Path(input.source).parent}" if input.source else "",
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=6000,
    shell:
        "stage prepare --dataset {wildcards.dataset} {params.source} --out {params.folder} > {log} 2>&1"
