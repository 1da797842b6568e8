# Instances: theta*, constants, V* and gap, and a table of all instances.


@checked
def instance_entry(wildcards):
    if wildcards.instance not in STUDY["instances"]:
        raise unknown("instance", wildcards.instance, STUDY["instances"])
    return STUDY["instances"][wildcards.instance]


def instance_code(wildcards):
    entry = instance_entry(wildcards)
    return code_hash(
        "befrl.instances", *instances.modules(entry["family"], entry["set"])
    )


rule instance:
    output:
        LAYOUT.instance(),
    log:
        LAYOUT.log("instances/{instance}"),
    # Everything else waits for them, and they take a second each.
    priority: 2
    group:
        "instances"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        family=lambda wildcards: instance_entry(wildcards)["family"],
        set=lambda wildcards: settings(instance_entry(wildcards)["set"]),
        code=instance_code,
    shell:
        "python -m befrl instance {params.family} --set {params.set} --name {wildcards.instance} --out {output:q}"
        " > {log:q} 2>&1"


rule instances_table:
    input:
        [LAYOUT.instance(name) for name in STUDY["instances"]],
        [
            LAYOUT.component("exploration", "points", name)
            for name in STUDY.component("exploration")
        ],
    output:
        LAYOUT.instances(),
    log:
        LAYOUT.log("instances"),
    conda:
        ENVIRONMENT
    params:
        output=OUTPUT,
        names=list(STUDY["instances"]),
        explored=list(STUDY.component("exploration")),
        code=code_hash("befrl.analysis.instance_table"),
    shell:
        "python -m befrl instances --output {params.output:q} --names {params.names} --explored {params.explored}"
        " --out {output:q} > {log:q} 2>&1"
