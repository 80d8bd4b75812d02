# TLDP's table is made whatever studies are chosen, because it needs none; others with the studies of their paper
TABLES = [
    "results/tables/tldp_table5.csv",
    *(["results/tables/tvg_table4.csv"] if any(study.startswith("tvg_") for study in PLAN.studies) else []),
    *(["results/tables/reconstruction.csv"] if "reconstruction" in PLAN.studies else []),
    *(f"results/tables/{table}.csv" for study in PLAN.studies.values() for table in study.tables),
]


rule error_table:
    output:
        "results/tables/tldp_table5.csv",
    params:
        source=source("error_table"),
    log:
        "logs/error_table.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage error_table --out {output} > {log} 2>&1"


rule growth_table:
    output:
        "results/tables/tvg_table4.csv",
    params:
        source=source("growth_table"),
    log:
        "logs/growth_table.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage growth_table --out {output} > {log} 2>&1"
