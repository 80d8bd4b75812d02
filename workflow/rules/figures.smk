VIEWS = ["", "_honest", "_pure"]  # nominal epsilon, guaranteed at delta 1e-5, guaranteed with delta 0
FIGURES = [
    f"results/figures/{study}{view}.{kind}"
    for study in PLAN.studies
    for view in VIEWS
    for kind in ("png", "svg")
]
PRIVACY_FIGURES = [
    f"results/figures/{figure}.{kind}"
    for figure in ("privacy_profiles", "accuracy_ceiling")
    for kind in ("png", "svg")
]


rule tldp_figure:
    input:
        metrics="results/metrics.parquet",
        notebook="notebooks/{study}.ipynb",
        code=code("figures/*.py"),
    output:
        figures=expand("results/figures/{{study}}{view}.{kind}", view=VIEWS, kind=["png", "svg"]),
        data="results/figures/{study}.csv",
        notebook="results/notebooks/{study}.ipynb",
    params:
        folder=subpath(output.data, parent=True),
    log:
        "logs/figures/{study}.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=1000,
    shell:
        "notebook {input.notebook} {output.notebook} "
        "-p metrics {input.metrics} -p folder {params.folder} > {log} 2>&1"
