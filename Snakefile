from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/perturb.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    metrics,
    privacy,
    figures,


rule all:
    default_target: True
    input:
        "results/report.html",


rule metrics:
    input:
        "results/metrics.parquet",


rule privacy:
    input:
        GUARANTEES,
        AUDITS,


rule figures:
    input:
        FIGURES,
        PRIVACY_FIGURES,


onsuccess:
    print("\nFinished. Figures: results/figures/   numbers: results/metrics.parquet   report: results/report.html")
