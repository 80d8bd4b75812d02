# Each study has its tables, from which its figures are drawn; those of all studies are joined for claims and the report.
KINDS = {
    "metrics": "results/metrics.parquet",
    "series": "results/series.parquet",
    "guarantees": "results/privacy/guarantees.csv",
    "audits": "results/privacy/audits.csv",
    "standing": "results/standing.csv",
}


rule collect_study:
    input:
        scores=lambda wildcards: of_studies("scores", wildcards.study),
        privacy=lambda wildcards: of_studies("privacy", wildcards.study),
        checks=CHECKS_MADE,
        wanted=lambda wildcards: wanted(wildcards.study),
    output: **{kind: f"results/studies/{{study}}/{Path(path).name}" for kind, path in KINDS.items()}
    params:
        source=source("collect"),
        scale=PLAN.settings.scale,
        checks=argument("checks"),
        folder=subpath(output.metrics, parent=True),
    priority: 1000
    log: "logs/collect_study/{study}.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell:
        "stage collect --scores {input.scores} --privacy {input.privacy} {params.checks} --scale {params.scale} "
        "--code '{params.source}' --out {params.folder} > {log} 2>&1"


rule collect:
    input:
        [f"results/studies/{study}/{Path(path).name}" for study in PLAN.studies for path in KINDS.values()],
        wanted=lambda wildcards: wanted(),
    output: **KINDS
    params:
        source=source("join"),
        folders=[f"results/studies/{study}" for study in PLAN.studies],
    priority: 1000
    log: "logs/collect.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell: "stage join --folders {params.folders} --out {output} > {log} 2>&1"


# Those that functions of rooms compute, by name, each with its room: of the papers of this run, or of all runs.
COMPUTED = {
    name: (room, table)
    for room in rooms()
    for name, table in room.tables.items()
    if table.function and (table.always or (PLAN.studies.keys() & ({table.reads} if table.reads else room.studies)))
}
TABLES = [
    *(f"results/tables/{name}.csv" for name in COMPUTED),
    *(f"results/tables/{table}.csv" for study in PLAN.studies.values() for table in study.tables),
]

for name, (room, table) in COMPUTED.items():

    rule:
        name: f"table_{name}"
        input:
            metrics=f"results/studies/{table.reads}/metrics.parquet" if table.reads else [],
            wanted=wanted_by(table.reads),
        output: f"results/tables/{name}.csv"
        params:
            source=source("table", files=[room.folder / f"{table.function.rpartition('.')[0]}.py"]),
            name=name,
            read=argument("metrics"),
        log: f"logs/tables/{name}.log"
        conda: "../../envs/tensorldp.yaml"
        resources: mem_mb=1000
        shell: "stage table {params.name} {params.read} --out {output} > {log} 2>&1"


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
        wanted=lambda wildcards: wanted("reconstruction"),
    output: "results/pictures/reconstruction.safetensors"
    params: source=source("attack_pictures")
    log: "logs/attack_pictures.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=2000
    shell:
        "stage attack_pictures --metrics {input.metrics} --datasets resources/datasets --out {output} > {log} 2>&1"
