# Runs: one job is one (instance, track, variant of an agent, batch of seeds).


@checked
def variant(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    found = STUDY.variant(wildcards.instance, wildcards.variant)
    batches = STUDY.batches(wildcards.instance, found)
    if wildcards.batch not in batches:
        raise unknown("batch of seeds", wildcards.batch, batches)
    return found


def run_code(wildcards):
    found, family = variant(wildcards), STUDY["instances"][wildcards.instance]["family"]
    parameters = agents.parameters(found.algorithm, found.values)
    return code_hash(
        "befrl.experiment.runs",
        "befrl.experiment.seeds",
        instances.module_name(family),
        *agents.modules(found.algorithm, parameters),
    )


rule run:
    input:
        LAYOUT.instance(),
    output:
        LAYOUT.run(),
    log:
        LAYOUT.log("runs/{instance}/{track}/{variant}/{batch}"),
    conda:
        ENVIRONMENT
    threads: STUDY["jobs"]["threads"]
    resources:
        **RESOURCES,
    params:
        algorithm=lambda wildcards: variant(wildcards).algorithm,
        set=lambda wildcards: settings(variant(wildcards).values),
        episodes=lambda wildcards: STUDY["study"][wildcards.instance]["episodes"],
        root_seed=STUDY["root_seed"],
        lockstep=untracked(lambda wildcards: STUDY["jobs"]["lockstep"]),
        code=run_code,
    shell:
        "python -m befrl run --instance {input:q} --agent {params.algorithm} --set {params.set}"
        " --label {wildcards.variant:q} --track {wildcards.track} --episodes {params.episodes}"
        " --seeds {wildcards.batch} --root-seed {params.root_seed} --lockstep {params.lockstep}"
        " --threads {threads} --out {output:q} > {log:q} 2>&1"
