rule extract_features:
    input:
        digest="resources/datasets/{dataset}/digest.json",
        data=ancient("resources/datasets/{dataset}/train.safetensors"),
        weights=backbone_weights,
    output:
        multiext("results/features/{dataset}/{backbone}/", "train.safetensors", "test.safetensors", "digest.json",
                 "record.json"),
    params:
        source=source("extract_features"),
        data=subpath(input.data, parent=True),
        folder=subpath(output[0], parent=True),
        weights=lambda wildcards, input: f"--weights {Path(input.weights).parent}" if input.weights else "",
    wildcard_constraints:
        backbone="[a-z0-9_]+",
    priority: priority_of_data  # everything else waits for it
    log:
        "logs/extract_features/{dataset}/{backbone}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 4
    resources:
        gpu=GPU,
        mem_mb=6000,
        runtime=120,
    shell:
        "stage extract_features --data {params.data} --backbone {wildcards.backbone} {params.weights} "
        "--threads {threads} --out {params.folder} > {log} 2>&1"
