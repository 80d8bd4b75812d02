rule evaluate:
    input:
        unpack(evaluate_inputs),
    output:
        f"results/metrics/{CELL}.json",
    params:
        cell=training,
        source=cell_source("evaluate"),
        data=subpath(input.data, parent=True),
        released=lambda wildcards, input: f"--released {input.released}" if input.released else "",
    wildcard_constraints:
        study=one_of(study.study for study in PLAN.studies.values() if METHODS[study.method].trains),
    priority: 20
    log:
        f"logs/evaluate/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        gpu=GPU,
        mem_mb=4000,
        runtime=30,
    shell:
        "stage evaluate --data {params.data} {params.released} --models {input.models} "
        "--cell {params.cell:q} --out {output} > {log} 2>&1"


METRICS = [f"results/metrics/{cell.path}.json" for cell in PLAN.cells]
GUARANTEES = [f"results/privacy/guarantees/{cell.path}.json" for cell in PLAN.cells]


rule collect:
    input:
        metrics=METRICS,
        guarantees=GUARANTEES,
    output:
        metrics="results/metrics.parquet",
        series="results/series.parquet",
        guarantees="results/privacy/guarantees.csv",
    params:
        source=source("collect"),
        cells=list_of_cells(),
        scale=PLAN.settings.scale,
    priority: 40  # figures wait for it
    log:
        "logs/collect.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    threads: 1
    resources:
        runtime=30,
    shell:
        "stage collect --cells {params.cells} --results results --scale {params.scale} --out {output.metrics} "
        "--series {output.series} --guarantees {output.guarantees} > {log} 2>&1"
