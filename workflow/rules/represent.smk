rule represent:
    input:
        digest="resources/datasets/{dataset}/digest.json",
        data=ancient("resources/datasets/{dataset}/train.safetensors"),
        weights=backbone_weights,
    output:
        multiext("results/representations/{dataset}/{backbone}/", "train.safetensors", "test.safetensors",
                 "public.safetensors", "digest.json", "record.json"),
    params:
        data=subpath(input.data, parent=True),
        folder=subpath(output[0], parent=True),
        weights=lambda wildcards, input: f"--weights {Path(input.weights).parent}" if input.weights else "",
        source=source("represent"),
    wildcard_constraints:
        backbone="[a-z0-9_]+",
    priority: priority_of_data  # its cells wait for it
    log:
        "logs/represent/{dataset}/{backbone}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 4
    resources:
        mem_mb=4000,
        runtime=120,
    shell:
        "stage represent --data {params.data} --backbone {wildcards.backbone} {params.weights} "
        "--threads {threads} --out {params.folder} > {log} 2>&1"
