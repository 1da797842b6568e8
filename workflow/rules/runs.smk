# Runs: an agent is tuned on a case, then plays it in all its settings; one job for each (case, agent, batch of seeds).


rule tune:
    input:
        LAYOUT.instance(),
    output:
        LAYOUT.tuned(),
    log:
        LAYOUT.log("tuning/{instance}/{track}/{agent}"),
    benchmark:
        LAYOUT.benchmark("tuning/{instance}/{track}/{agent}")
    group:
        "tunings"
    threads: STUDY["jobs"]["threads"]
    resources:
        **STUDY.resources(),
    params:
        version=version("tune"),
    shell:
        f"{JOB} tune"
        " --version {params.version}"
        " --instance {wildcards.instance} --track {wildcards.track}"
        " --agent {wildcards.agent} --threads {threads} > {log:q} 2>&1"


def tuned_settings(wildcards):
    """The outcome of tuning, for agents that are tuned; unknown names are reported by the version of the run."""
    return LAYOUT.tuned() if "tune" in STUDY["agents"].get(wildcards.agent, {}) else []


rule run:
    input:
        LAYOUT.instance(),
        tuned_settings,
    output:
        LAYOUT.run(),
    log:
        LAYOUT.log("runs/{instance}/{track}/{agent}/{batch}"),
    benchmark:
        LAYOUT.benchmark("runs/{instance}/{track}/{agent}/{batch}")
    # Long runs start first, so that no core waits for them in the end.
    priority: 1
    group:
        "runs"
    threads: STUDY["jobs"]["threads"]
    resources:
        **STUDY.resources(),
    params:
        version=version("run"),
    shell:
        f"{JOB} run"
        " --version {params.version}"
        " --instance {wildcards.instance} --track {wildcards.track}"
        " --agent {wildcards.agent} --batch {wildcards.batch} --threads {threads} > {log:q} 2>&1"
