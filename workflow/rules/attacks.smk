rule attack_table:
    input:
        metrics="results/studies/reconstruction/metrics.parquet",
    output:
        "results/tables/reconstruction.csv",
    params:
        source=source("attack_table"),
    log:
        "logs/attack_table.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    shell:
        "stage attack_table --metrics {input.metrics} --out {output} > {log} 2>&1"


PICTURE_DATASETS = sorted({cell.dataset for cell in PLAN.cells if getattr(cell.factors, "attack", None) == "likelihood"})


rule attack_pictures:
    input:
        metrics="results/studies/reconstruction/metrics.parquet",
        digests=[f"resources/datasets/{dataset}/digest.json" for dataset in PICTURE_DATASETS],
        data=ancient(
            [
                f"resources/datasets/{dataset}/{split}.safetensors"
                for dataset in PICTURE_DATASETS
                for split in ("train", "test")
            ]
        ),
    output:
        "results/pictures/reconstruction.safetensors",
    params:
        source=source("attack_pictures"),
    log:
        "logs/attack_pictures.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    shell:
        "stage attack_pictures --metrics {input.metrics} --datasets resources/datasets --out {output} > {log} 2>&1"
