# How often the intervals of the tables contain the mean, measured by simulation.


rule coverage:
    output:
        LAYOUT.coverage(),
    log:
        LAYOUT.log("coverage"),
    group:
        "components"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        repetitions=STUDY["statistics"]["coverage"],
        seed=STUDY["root_seed"],
        code=code_hash("befrl.analysis.coverage"),
    shell:
        "python -m befrl coverage --repetitions {params.repetitions} --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"
