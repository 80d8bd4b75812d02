# All of the workflow but its default target, which Snakemake lets no included file set.
from snakemake.utils import min_version

min_version("9.0")


include: "rules/config.smk"


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/cells.smk"
include: "rules/checks.smk"
include: "rules/tables.smk"
include: "rules/figures.smk"
include: "rules/claims.smk"


rule metrics:
    input:
        "results/metrics.parquet",


rule figures:
    input:
        FIGURES,


STARTED = time.time()


onstart:
    if workflow.is_main_process:
        STUDY_LINES.attach(STORE.results)


onsuccess:
    if workflow.is_main_process and "--notemp" not in sys.argv:
        STORE.clear_spent(sys.argv)
    print(*warnings_since(STARTED), finished(STARTED), sep="\n")


# said at the very end, as Snakemake has some lines to say after this
onerror:
    atexit.register(print, WITNESS.last_words(STARTED), file=sys.stderr, end="", flush=True)
