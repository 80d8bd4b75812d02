rule attack_table:
    input:
        metrics="results/metrics.parquet",
        code=code("studies/attack_table.py"),
    output:
        "results/tables/reconstruction.csv",
    log:
        "logs/attack_table.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=1000,
    shell:
        "stage attack_table --metrics {input.metrics} --out {output} > {log} 2>&1"


PICTURE_DATASETS = sorted({cell.dataset for cell in PLAN.cells if getattr(cell.factors, "attack", None) == "likelihood"})


rule attack_pictures:
    input:
        metrics="results/metrics.parquet",
        digests=[f"resources/datasets/{dataset}/digest.json" for dataset in PICTURE_DATASETS],
        data=ancient(
            [
                f"resources/datasets/{dataset}/{split}.safetensors"
                for dataset in PICTURE_DATASETS
                for split in ("train", "test")
            ]
        ),
        code=code("studies/attack_pictures.py", "studies/attacks/releases.py", "attacks/likelihood.py"),
    output:
        "results/pictures/reconstruction.safetensors",
    log:
        "logs/attack_pictures.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=2000,
    shell:
        "stage attack_pictures --metrics {input.metrics} --datasets resources/datasets --out {output} > {log} 2>&1"
