# As workflow/Snakefile, for those who call `snakemake` at the top of the repository.
include: "workflow/main.smk"


rule all:
    default_target: True
    input: RESULTS
