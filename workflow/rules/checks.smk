# one check a mechanism, an option making another one; a run takes account of the checks that it finds
CHECKED = {
    check_name(cell.mechanism, cell.options): (cell.mechanism, cell.options)
    for cell in PLAN.cells
    if cell.private
}


def options_of(wildcards):
    return json.dumps(CHECKED[wildcards.checked][1], sort_keys=True)


def check_source(wildcards):
    return source_digest(SCRIPTS / "check.py", mechanism=CHECKED[wildcards.checked][0], plugins=PLUGINS)


rule check:
    output:
        verdict="results/checks/{checked}/verdict.json",
        page="results/checks/{checked}/verdict.html",
    params:
        mechanism=lambda wildcards: CHECKED[wildcards.checked][0],
        options=options_of,
        minutes=PLAN.settings.check_minutes,
        source=check_source,
        folder=subpath(output.verdict, parent=True),
    wildcard_constraints:
        checked=one_of(CHECKED),
    log:
        "logs/checks/{checked}.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=2000,
    shell:
        "stage check --mechanism {params.mechanism} --options {params.options:q} --minutes {params.minutes} "
        "--out {params.folder:q} > {log:q} 2>&1"


rule checks:
    input:
        [f"results/checks/{name}/verdict.json" for name in CHECKED],
    output:
        "results/checks/index.html",
    params:
        source=source("checks"),
    log:
        "logs/checks.log",
    conda:
        "../../envs/tensorldp.yaml"
    localrule: True
    shell:
        "stage checks --verdicts {input:q} --out {output} > {log} 2>&1"


CHECKS_MADE = [path for name in CHECKED if Path(path := f"results/checks/{name}/verdict.json").exists()]
