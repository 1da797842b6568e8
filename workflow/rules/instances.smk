# Instances: theta*, constants, V* and gap, and a table of all instances.


rule instance:
    output:
        LAYOUT.instance(),
    log:
        LAYOUT.log("instances/{instance}"),
    benchmark:
        LAYOUT.benchmark("instances/{instance}")
    # Everything else waits for them, and they take a second each.
    priority: 2
    group:
        "instances"
    resources:
        **STUDY.resources(),
    params:
        version=version("instance"),
    shell:
        f"{JOB} instance"
        " --version {params.version}"
        " --instance {wildcards.instance} > {log:q} 2>&1"


rule instances:
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
    benchmark:
        LAYOUT.benchmark("instances")
    localrule: True
    params:
        version=version("instances"),
    shell:
        f"{JOB} instances" " --version {params.version} > {log:q} 2>&1"
