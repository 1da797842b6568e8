# Regret: tidy tables of all runs of a case.


@checked
def case_variants(wildcards):
    STUDY.check_case(wildcards.instance, wildcards.track)
    return list(STUDY.variants(wildcards.instance).values())


def case_runs(wildcards):
    return [
        LAYOUT.run(wildcards.instance, wildcards.track, variant.label, batch)
        for variant in case_variants(wildcards)
        for batch in STUDY.batches(wildcards.instance, variant)
    ]


def case_labels(wildcards):
    return " ".join(shlex.quote(v.label) for v in case_variants(wildcards))


def case_batches(on_grid):
    """The batches of the variants on a grid, or off it, as words of a command line."""

    def words(wildcards):
        found = [
            v for v in case_variants(wildcards) if (v.varied is not None) == on_grid
        ]
        return " ".join(STUDY.batches(wildcards.instance, found[0])) if found else ""

    return words


rule aggregate:
    input:
        case_runs,
    output:
        [LAYOUT.regret(table) for table in REGRET_TABLES],
        timings=LAYOUT.regret_timings(),
    log:
        LAYOUT.log("regret/{instance}_{track}"),
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        runs=LAYOUT.runs(),
        out=lambda wildcards, output: folder(output[0]),
        labels=untracked(case_labels),
        batches=untracked(case_batches(on_grid=False)),
        grid_batches=untracked(case_batches(on_grid=True)),
        tuning=lambda wildcards: STUDY.seeds(wildcards.instance)["tuning"],
        resamples=STUDY["statistics"]["resamples"],
        level=STUDY["statistics"]["level"],
        code=code_hash("befrl.analysis.aggregation"),
    shell:
        "python -m befrl aggregate --runs {params.runs:q} --labels {params.labels} --batches {params.batches}"
        " --grid-batches {params.grid_batches} --tuning {params.tuning} --resamples {params.resamples}"
        " --level {params.level} --out {params.out:q} --timings {output.timings:q} > {log:q} 2>&1"
