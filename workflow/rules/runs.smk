# Runs: one job is one (instance, track, variant of an agent, block of seeds).


@checked
def variant(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    found = STUDY.variant(wildcards.instance, wildcards.variant)
    blocks = STUDY.blocks(found)
    if wildcards.block not in blocks:
        raise unknown("block of seeds", wildcards.block, blocks)
    return found


def run_code(wildcards):
    family = STUDY["instances"][wildcards.instance]["family"]
    algorithm = variant(wildcards).algorithm
    return code_hash("befrl.runs", instances.catalogue.module_name(family), agents.catalogue.module_name(algorithm))


rule run:
    input:
        f"{RESULTS}/instances/{{instance}}.npz",
    output:
        f"{RESULTS}/runs/{{instance}}/{{track}}/{{variant}}/{{block}}.npz",
    log:
        f"{RESULTS}/logs/runs/{{instance}}/{{track}}/{{variant}}/{{block}}.log",
    params:
        algorithm=lambda wildcards: variant(wildcards).algorithm,
        set=lambda wildcards: settings(variant(wildcards).values),
        episodes=lambda wildcards: STUDY["study"][wildcards.instance]["episodes"],
        root_seed=STUDY["root_seed"],
        lockstep=STUDY["jobs"]["lockstep"],
        code=run_code,
    threads: STUDY["jobs"]["threads"]
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl run --instance {input} --agent {params.algorithm} --set {params.set}"
        " --label {wildcards.variant:q} --track {wildcards.track} --episodes {params.episodes}"
        " --seeds {wildcards.block} --root-seed {params.root_seed} --lockstep {params.lockstep}"
        " --threads {threads} --out {output:q} > {log:q} 2>&1"
