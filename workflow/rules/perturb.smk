rule perturb:
    input:
        unpack(perturb_inputs),
    output:
        temp(directory(f"results/perturbed/{CELL}")),
    params:
        cell=perturbation,
        source=cell_source("perturb"),
        seeds=seeds_without_scores,
        data=subpath(input.data, parent=True),
    priority: priority_of_stage(1)
    log:
        f"logs/perturb/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    threads: 1
    resources:
        gpu=GPU,
        mem_mb=4000,
        runtime=30,
    shell:
        "stage perturb --data {params.data} --cell {params.cell:q} {params.seeds} --out {output} "
        "> {log} 2>&1"
