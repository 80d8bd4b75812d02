rule perturb:
    input:
        unpack(perturb_inputs),
    output:
        temp(directory(f"results/perturbed/{CELL}")),
    params:
        cell=perturbation,
        source=cell_source("perturb"),
        data=subpath(input.data, parent=True),
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
        "stage perturb --data {params.data} --cell {params.cell:q} --out {output} "
        "> {log} 2>&1"
