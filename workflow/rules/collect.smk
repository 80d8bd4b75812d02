# Each study has its tables, from which its figures are drawn; those of all studies are joined for claims and the report.
METRICS = [SCORES.format(**key_of(cell)) for cell in PLAN.cells]
GUARANTEES = [GUARANTEE.format(**key_of(cell)) for cell in PLAN.cells]
AUDITS = [AUDIT.format(**key_of(cell)) for cell in PLAN.cells if cell.private]  # else nothing to audit


rule collect_study:
    input:
        unpack(files_of_study(("metrics", SCORES), ("guarantees", GUARANTEE))),
    output:
        metrics="results/studies/{study}/metrics.parquet",
        series="results/studies/{study}/series.parquet",
        guarantees="results/studies/{study}/guarantees.csv",
    params:
        source=source("collect"),
        cells=list_of_cells,
        scale=PLAN.settings.scale,
    priority: AT_ONCE
    log:
        "logs/collect_study/{study}.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage collect --cells {params.cells} --results results --scale {params.scale} --out {output.metrics} "
        "--series {output.series} --guarantees {output.guarantees} > {log} 2>&1"


rule collect_study_audits:
    input:
        unpack(files_of_study(("metrics", SCORES), ("guarantees", GUARANTEE), ("audits", AUDIT))),
        checks=CHECKS_MADE,
    output:
        audits="results/studies/{study}/audits.csv",
        standing="results/studies/{study}/standing.csv",
    params:
        source=source("collect_audits"),
        cells=list_of_cells,
        checks=lambda wildcards, input: f"--checks {quoted(input.checks)}" if input.checks else "",
    priority: AT_ONCE
    log:
        "logs/collect_study_audits/{study}.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage collect_audits --cells {params.cells} --results results {params.checks} --out {output.audits} "
        "--standing {output.standing} > {log} 2>&1"


rule collect:
    input:
        metrics=[f"results/studies/{study}/metrics.parquet" for study in PLAN.studies],
        series=[f"results/studies/{study}/series.parquet" for study in PLAN.studies],
        guarantees=[f"results/studies/{study}/guarantees.csv" for study in PLAN.studies],
    output:
        metrics="results/metrics.parquet",
        series="results/series.parquet",
        guarantees="results/privacy/guarantees.csv",
    params:
        source=source("join"),
        folders=[f"results/studies/{study}" for study in PLAN.studies],
    priority: AT_ONCE
    log:
        "logs/collect.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage join --folders {params.folders} --out {output} > {log} 2>&1"


rule collect_audits:
    input:
        audits=[f"results/studies/{study}/audits.csv" for study in PLAN.studies],
        standing=[f"results/studies/{study}/standing.csv" for study in PLAN.studies],
    output:
        audits="results/privacy/audits.csv",
        standing="results/standing.csv",
    params:
        source=source("join"),
        folders=[f"results/studies/{study}" for study in PLAN.studies],
    priority: AT_ONCE
    log:
        "logs/collect_audits.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage join --folders {params.folders} --out {output} > {log} 2>&1"
