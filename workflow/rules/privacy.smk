rule guarantee:
    input:
        unpack(privacy_inputs),
    output:
        update(GUARANTEE),
    params:
        cell=privacy,
        source=privacy_source("guarantee"),
        seeds=seeds_of_guarantee,
        made=made_guarantee,
        data=data_argument,
        models=models_argument,
    priority: priority_of_privacy
    log:
        f"logs/guarantee/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    shell:
        "stage guarantee {params.data} {params.models} --cell {params.cell:q} {params.seeds} {params.made} --out {output} > {log} 2>&1"


rule audit:
    input:
        unpack(privacy_inputs),
    output:
        update(AUDIT),
    params:
        cell=privacy,
        source=privacy_source("audit"),
        seed=seed_of_audit,
        made=made_audit,
        data=data_argument,
        models=models_argument,
    priority: priority_of_privacy
    log:
        f"logs/audit/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    shell:
        "stage audit {params.data} {params.models} --cell {params.cell:q} {params.seed} {params.made} --out {output} > {log} 2>&1"


# it draws runs of TLDP's first study, where they are planned; those of any other study have no such rows
CEILING = f"results/studies/{'tldp_type1' if 'tldp_type1' in PLAN.studies else min(RANK, key=RANK.get)}"


rule privacy_figure:
    input:
        metrics=lambda wildcards: f"{CEILING}/metrics.parquet" if wildcards.figure == "accuracy_ceiling" else [],
        standing=lambda wildcards: f"{CEILING}/standing.csv" if wildcards.figure == "accuracy_ceiling" else [],
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
    priority: AT_ONCE
    params:
        source=lambda wildcards: notebook_source(wildcards.figure),
        metrics=lambda wildcards, input: f"-p metrics {input.metrics}" if input.metrics else "",
    log:
        "logs/figures/{figure}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        runtime=30,
    shell:
        "notebook {input.notebook:q} {output.notebook} "
        "{params.metrics} -p folder results/figures > {log} 2>&1"
