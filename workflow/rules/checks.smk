rule check:
    output:
        verdict="results/checks/{checked}/verdict.json",
        page="results/checks/{checked}/verdict.html",
    params:
        mechanism=lambda wildcards: CHECKABLE[wildcards.checked][0],
        options=lambda wildcards: json.dumps(CHECKABLE[wildcards.checked][1], sort_keys=True),
        minutes=PLAN.settings.check_minutes,
        source=lambda wildcards: source("check", frozenset([CHECKABLE[wildcards.checked][0]])),
        folder=subpath(output.verdict, parent=True),
    wildcard_constraints: checked=one_of(CHECKABLE)
    log: "logs/checks/{checked}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=2000, runtime=round(2 * PLAN.settings.check_minutes) + 20  # minutes, with the start
    shell:
        "stage check --mechanism {params.mechanism} --options {params.options:q} --minutes {params.minutes} "
        "--out {params.folder:q} > {log:q} 2>&1"


rule checks:
    input: [f"results/checks/{name}/verdict.json" for name in CHECKED]
    output: "results/checks/index.html"
    params: source=source("checks")
    log: "logs/checks.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell: "stage checks --verdicts {input:q} --out {output} > {log} 2>&1"


# every mechanism there is, as a config need not have all
use rule checks as all_checks with:
    input: [f"results/checks/{name}/verdict.json" for name in CHECKABLE]
    output: "results/checks/all.html"
    log: "logs/all_checks.log"


CHECKS_MADE = [path for name in CHECKED if Path(path := f"results/checks/{name}/verdict.json").exists()]


rule card:
    output: multiext("results/cards/{card}", ".html", ".svg", ".png", ".json")
    params:
        minutes=PLAN.settings.check_minutes,
        source=lambda wildcards: source("card", frozenset([wildcards.card])),
        folder=subpath(output[0], parent=True),
    wildcard_constraints: card=one_of(name for name in MECHANISMS.names() if name != NO_PRIVACY)
    threads: 2
    log: "logs/cards/{card}.log"
    conda: "../../envs/tensorldp.yaml"
    resources: mem_mb=4000, runtime=60
    shell:
        "stage card --mechanism {wildcards.card} --minutes {params.minutes} --cores {threads} --out {params.folder} "
        "> {log} 2>&1"


rule cards:
    input: sorted({f"results/cards/{cell.mechanism}.json" for cell in PLAN.cells if cell.private})
    output: "results/cards/index.html"
    params: source=source("cards")
    log: "logs/cards.log"
    conda: "../../envs/tensorldp.yaml"
    localrule: True
    shell: "stage cards --cards {input:q} --out {output} > {log} 2>&1"


# every mechanism there is, as a config need not have all
use rule cards as all_cards with:
    input: [f"results/cards/{name}.json" for name in MECHANISMS.names() if name != NO_PRIVACY]
    output: "results/cards/all.html"
    log: "logs/all_cards.log"
