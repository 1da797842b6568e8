# Regret: the runs of one case put together into tidy tables.


rule aggregate:
    input:
        case_runs,
    output:
        f"{RESULTS}/regret/{{instance}}_{{track}}/summary.csv",
        f"{RESULTS}/regret/{{instance}}_{{track}}/curves.csv",
        f"{RESULTS}/regret/{{instance}}_{{track}}/paired.csv",
        f"{RESULTS}/regret/{{instance}}_{{track}}/timings.csv",
    log:
        f"{RESULTS}/logs/regret/{{instance}}_{{track}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        runs=f"{RESULTS}/runs/{{instance}}/{{track}}",
        out=f"{RESULTS}/regret/{{instance}}_{{track}}",
        labels=lambda wildcards: " ".join(
            shlex.quote(v.label) for v in case_variants(wildcards)
        ),
        blocks=case_blocks(on_grid=False),
        grid_blocks=case_blocks(on_grid=True),
        tuning=lambda wildcards: STUDY.seeds(wildcards.instance)["tuning"],
        resamples=STUDY["statistics"]["resamples"],
        level=STUDY["statistics"]["level"],
        code=code_hash("befrl.analysis.aggregation"),
    shell:
        "python -m befrl aggregate --runs {params.runs:q} --labels {params.labels} --blocks {params.blocks}"
        " --grid-blocks {params.grid_blocks} --tuning {params.tuning} --resamples {params.resamples}"
        " --level {params.level} --out {params.out:q} > {log:q} 2>&1"
