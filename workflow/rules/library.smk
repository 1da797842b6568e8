# Library: instances, estimators and planners by themselves, one job for each study and instance.


rule library:
    input:
        f"{RESULTS}/instances/{{instance}}.npz",
    output:
        f"{RESULTS}/library/{{kind}}/{{instance}}.csv",
    log:
        f"{RESULTS}/logs/library/{{kind}}/{{instance}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        set=lambda wildcards: settings(library_settings(wildcards)),
        root_seed=STUDY["root_seed"],
        code=library_code,
    shell:
        "python -m befrl library {wildcards.kind} --instance {input:q} --set {params.set}"
        " --root-seed {params.root_seed} --out {output:q} > {log:q} 2>&1"


rule instances_table:
    input:
        [f"{RESULTS}/instances/{name}.npz" for name in STUDY["instances"]],
        [
            f"{RESULTS}/library/exploration/{name}.csv"
            for name in STUDY.library("exploration")
        ],
    output:
        f"{RESULTS}/instances.csv",
    log:
        f"{RESULTS}/logs/instances.log",
    conda:
        ENVIRONMENT
    params:
        results=lambda wildcards, output: Path(output[0]).parent.as_posix(),
        names=list(STUDY["instances"]),
        code=code_hash("befrl.analysis.instance_table"),
    shell:
        "python -m befrl instances --results {params.results:q} --names {params.names} --out {output:q} > {log:q} 2>&1"
