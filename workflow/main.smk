# All of the workflow but its default target, which Snakemake lets no included file set.
from snakemake.utils import min_version

min_version("9.0")


include: "rules/config.smk"


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/seeds.smk"
include: "rules/order.smk"
include: "rules/data.smk"
include: "rules/features.smk"
include: "rules/represent.smk"
include: "rules/perturb.smk"
include: "rules/train.smk"
include: "rules/evaluate.smk"
include: "rules/measure.smk"
include: "rules/checks.smk"
include: "rules/privacy.smk"
include: "rules/collect.smk"
include: "rules/tables.smk"
include: "rules/attacks.smk"
include: "rules/figures.smk"
include: "rules/claims.smk"
include: "rules/report.smk"
include: "rules/reference.smk"
include: "rules/plan.smk"


localrules:
    all,
    metrics,
    privacy,
    figures,
    reference_figures,


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


# Snakemake asks each function of a rule for its signature several times in each job; Python returns at once what a
# function carries.
for found in workflow.rules:
    for value in (*found.input, *found.params, found.priority):
        function = getattr(getattr(value, "_file", value), "callable", value)
        if inspect.isfunction(function):
            function.__signature__ = inspect.signature(function)


# Snakemake 9.27 limits the rate of job starts, and after every job its limiter checks all waiting jobs again each second
# until the end, which costs more than the jobs of a large grid; no limit unless the user sets another than the default.
onstart:
    gc.enable()
    environment.export_afresh(cells_are_forced())
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    if (place := os.environ.get("TENSORLDP_PLANNED")) and workflow.is_main_process:
        write_text(Path(place), json.dumps(steps_by_study(workflow.dag.needrun_jobs())))


onsuccess:
    if workflow.is_main_process and not workflow.storage_settings.notemp:
        clear_spent_folders(PLAN.cells, Path("."), {Path(target) for target in workflow.dag.targetfiles})
    ran = [job for job in workflow.dag.jobs if workflow.dag.finished(job)]
    print(*warned(ran), finished({str(path) for job in workflow.dag.jobs for path in job.output}), sep="\n")


STARTED = time.time()


# said at the very end, as Snakemake has some lines to say after this
onerror:
    if workflow.is_main_process:
        wanted = list(workflow.dag.needrun_jobs(exclude_finished=False))
        left = list(workflow.dag.needrun_jobs())
        logs = sorted({str(log) for job in left for log in job.log})
        told = last_words(logs, STARTED, done=len(wanted) - len(left), left=len(left))
        atexit.register(print, told, file=sys.stderr, end="", flush=True)
