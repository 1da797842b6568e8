# Instances: theta*, constants, V*, gap.


rule instance:
    output:
        f"{RESULTS}/instances/{{instance}}.npz",
    log:
        f"{RESULTS}/logs/instances/{{instance}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        family=lambda wildcards: instance_entry(wildcards)["family"],
        set=lambda wildcards: settings(instance_entry(wildcards)["set"]),
        code=instance_code,
    shell:
        "python -m befrl instance {params.family} --set {params.set} --name {wildcards.instance} --out {output:q}"
        " > {log:q} 2>&1"
