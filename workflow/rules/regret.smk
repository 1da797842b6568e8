# Regret: the runs of one case put together into tidy tables.


@checked
def case_variants(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    return list(STUDY.variants(wildcards.instance).values())


def case_runs(wildcards):
    return [
        f"{RESULTS}/runs/{wildcards.instance}/{wildcards.track}/{variant.label}/{block}.npz"
        for variant in case_variants(wildcards)
        for block in STUDY.blocks(variant)
    ]


def case_blocks(on_grid):
    """The blocks of the variants on a grid, or off it, as words of a command line."""

    def words(wildcards):
        found = [v for v in case_variants(wildcards) if (v.grid is not None) == on_grid]
        return " ".join(STUDY.blocks(found[0])) if found else ""

    return words


rule aggregate:
    input:
        case_runs,
    output:
        f"{RESULTS}/regret/{{instance}}_{{track}}/summary.csv",
        f"{RESULTS}/regret/{{instance}}_{{track}}/curves.csv",
        f"{RESULTS}/regret/{{instance}}_{{track}}/paired.csv",
    log:
        f"{RESULTS}/logs/regret/{{instance}}_{{track}}.log",
    params:
        runs=f"{RESULTS}/runs/{{instance}}/{{track}}",
        out=f"{RESULTS}/regret/{{instance}}_{{track}}",
        labels=lambda wildcards: " ".join(shlex.quote(v.label) for v in case_variants(wildcards)),
        blocks=case_blocks(on_grid=False),
        grid_blocks=case_blocks(on_grid=True),
        tuning=STUDY["seeds"]["tuning"],
        resamples=STUDY["statistics"]["resamples"],
        level=STUDY["statistics"]["level"],
        code=code_hash("befrl.aggregation"),
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl aggregate --runs {params.runs} --labels {params.labels} --blocks {params.blocks}"
        " --grid-blocks {params.grid_blocks} --tuning {params.tuning} --resamples {params.resamples}"
        " --level {params.level} --out {params.out} > {log} 2>&1"
