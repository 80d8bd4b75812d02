rule guarantee:
    input:
        digest=data_digest,
        data=lambda wildcards: ancient(f"{data_folder(wildcards)}/test.safetensors"),
        mechanism=mechanism_code,
        code=code("studies/guarantee.py", "training/release.py", "privacy/curves/*.py"),
    output:
        f"results/privacy/guarantees/{CELL}.json",
    params:
        cell=training,
        data=subpath(input.data, parent=True),
    log:
        f"logs/guarantee/{CELL}.log",
    conda:
        "../../envs/tensorldp.yaml"
    resources:
        mem_mb=1000,
    shell:
        "{PYTHON}/guarantee.py --data {params.data} --cell {params.cell:q} --out {output} > {log} 2>&1"
