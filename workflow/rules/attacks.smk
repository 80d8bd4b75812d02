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
