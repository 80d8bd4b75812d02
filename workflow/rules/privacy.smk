# first, because Snakemake looks at every waiting job again after each job: many short ones should not wait long
rule guarantee:
    input:
        unpack(privacy_inputs),
    output:
        f"results/privacy/guarantees/{CELL}.json",
    params:
        cell=privacy,
        source=cell_source("guarantee"),
        data=data_argument,
        models=models_argument,
    priority: 30
    log:
        f"logs/guarantee/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    shell:
        "stage guarantee {params.data} {params.models} --cell {params.cell:q} --out {output} > {log} 2>&1"


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


rule audit:
    input:
        unpack(privacy_inputs),
    output:
        f"results/privacy/audits/{CELL}.json",
    params:
        cell=privacy,
        source=cell_source("audit"),
        data=data_argument,
        models=models_argument,
    priority: 30
    log:
        f"logs/audit/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    shell:
        "stage audit {params.data} {params.models} --cell {params.cell:q} --out {output} > {log} 2>&1"


# a cell without a mechanism has nothing to audit
AUDITS = [f"results/privacy/audits/{cell.path}.json" for cell in PLAN.cells if cell.private]


rule collect_audits:
    input:
        metrics=METRICS,
        guarantees=GUARANTEES,
        audits=AUDITS,
        checks=CHECKS_MADE,
    output:
        audits="results/privacy/audits.csv",
        standing="results/standing.csv",
    params:
        source=source("collect_audits"),
        cells=list_of_cells(),
        checks=lambda wildcards, input: f"--checks {quoted(input.checks)}" if input.checks else "",
    priority: 40  # figures wait for it
    log:
        "logs/collect_audits.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage collect_audits --cells {params.cells} --results results {params.checks} --out {output.audits} "
        "--standing {output.standing} > {log} 2>&1"


rule privacy_figure:
    input:
        metrics=lambda wildcards: "results/metrics.parquet" if wildcards.figure == "accuracy_ceiling" else [],
        standing=lambda wildcards: "results/standing.csv" if wildcards.figure == "accuracy_ceiling" else [],
        notebook=f"{NOTEBOOKS}/{{figure}}.ipynb",
    output:
        figures=[
            shown("results/figures/{figure}.png", "Privacy of the mechanisms", "its own"),
            "results/figures/{figure}.svg",
        ],
        data="results/figures/{figure}.csv",
        notebook="results/notebooks/{figure}.ipynb",
        page="results/notebooks/{figure}.html",
    wildcard_constraints:
        figure="privacy_profiles|accuracy_ceiling",
    priority: 30
    params:
        source=lambda wildcards: notebook_source(wildcards.figure),
    log:
        "logs/figures/{figure}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        runtime=30,
    shell:
        "notebook {input.notebook:q} {output.notebook} "
        "-p metrics results/metrics.parquet -p folder results/figures > {log} 2>&1"
