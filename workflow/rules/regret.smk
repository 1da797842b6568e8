# Regret: tidy tables of all runs of a case.


@checked
def case_agents(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    return STUDY["study"][wildcards.instance]["agents"]


def case_runs(wildcards):
    return [
        LAYOUT.run(wildcards.instance, wildcards.track, agent, batch)
        for agent in case_agents(wildcards)
        for batch in STUDY.batches(wildcards.instance)
    ]


def case_tunings(wildcards):
    return [
        LAYOUT.tuned(wildcards.instance, wildcards.track, agent)
        for agent in case_agents(wildcards)
        if "tune" in STUDY["agents"][agent]
    ]


rule aggregate:
    input:
        case_runs,
        case_tunings,
    output:
        [LAYOUT.regret(table) for table in REGRET_TABLES],
        timings=LAYOUT.regret_timings(),
    log:
        LAYOUT.log("regret/{instance}_{track}"),
    # No group: Snakemake would count all inputs of a group's jobs again for every run that finishes.
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        runs=LAYOUT.runs(),
        out=lambda wildcards, output: folder(output[0]),
        agents=untracked(
            lambda wildcards: " ".join(map(shlex.quote, case_agents(wildcards)))
        ),
        tuned=untracked(
            lambda wildcards: " ".join(
                shlex.quote(agent)
                for agent in case_agents(wildcards)
                if "tune" in STUDY["agents"][agent]
            )
        ),
        batches=untracked(lambda wildcards: " ".join(STUDY.batches(wildcards.instance))),
        level=STUDY["statistics"]["level"],
        code=code_hash("befrl.analysis.aggregation"),
    shell:
        "python -m befrl aggregate --runs {params.runs:q} --agents {params.agents} --tuned {params.tuned}"
        " --batches {params.batches} --level {params.level} --out {params.out:q} --timings {output.timings:q}"
        " > {log:q} 2>&1"
