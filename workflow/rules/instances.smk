# Instances: theta*, constants, V*, gap.


@checked
def instance_entry(wildcards):
    if wildcards.instance not in STUDY["instances"]:
        raise unknown("instance", wildcards.instance, STUDY["instances"])
    return STUDY["instances"][wildcards.instance]


def instance_code(wildcards):
    family = instance_entry(wildcards)["family"]
    return code_hash("befrl.instances", instances.catalogue.module_name(family))


rule instance:
    output:
        f"{RESULTS}/instances/{{instance}}.npz",
    log:
        f"{RESULTS}/logs/instances/{{instance}}.log",
    params:
        family=lambda wildcards: instance_entry(wildcards)["family"],
        set=lambda wildcards: settings(instance_entry(wildcards)["set"]),
        code=instance_code,
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl instance {params.family} --set {params.set} --name {wildcards.instance} --out {output}"
        " > {log} 2>&1"
