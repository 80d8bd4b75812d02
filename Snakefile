from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/config.smk"


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/represent.smk"
include: "workflow/rules/perturb.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/checks.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/attacks.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/reference.smk"


localrules:
    all,
    metrics,
    privacy,
    figures,
    reference_figures,


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


# Snakemake 9.27 limits the rate of job starts, and after every job its limiter checks all waiting jobs again each second
# until the end, which costs more than the jobs of a large grid; no limit unless the user sets another than the default.
onstart:
    gc.enable()
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    if workflow.is_main_process and not workflow.storage_settings.notemp:
        clear_spent_folders(PLAN.cells, Path("."), {Path(target) for target in workflow.dag.targetfiles})
    print("\nFinished. Figures: results/figures/   numbers: results/metrics.parquet   report: results/report.html")
