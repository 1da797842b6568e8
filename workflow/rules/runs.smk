# Runs: one job is one (instance, track, variant of an agent, block of seeds).


rule run:
    input:
        f"{RESULTS}/instances/{{instance}}.npz",
    output:
        f"{RESULTS}/runs/{{instance}}/{{track}}/{{variant}}/{{block}}.npz",
    log:
        f"{RESULTS}/logs/runs/{{instance}}/{{track}}/{{variant}}/{{block}}.log",
    conda:
        ENVIRONMENT
    threads: STUDY["jobs"]["threads"]
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        algorithm=lambda wildcards: variant(wildcards).algorithm,
        set=lambda wildcards: settings(variant(wildcards).values),
        episodes=lambda wildcards: STUDY["study"][wildcards.instance]["episodes"],
        root_seed=STUDY["root_seed"],
        lockstep=STUDY["jobs"]["lockstep"],
        code=run_code,
    shell:
        "python -m befrl run --instance {input:q} --agent {params.algorithm} --set {params.set}"
        " --label {wildcards.variant:q} --track {wildcards.track} --episodes {params.episodes}"
        " --seeds {wildcards.block} --root-seed {params.root_seed} --lockstep {params.lockstep}"
        " --threads {threads} --out {output:q} > {log:q} 2>&1"
