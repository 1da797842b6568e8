# Published experiments: the authors' numbers beside ours. `snakemake --cores all published` makes only these.


@checked
def published_cases(wildcards):
    names = STUDY.repeated(wildcards.source)
    track = published.registry.module(wildcards.source).TRACK
    return [(name, track) for name in names]


def published_inputs(wildcards):
    cases = published_cases(wildcards)
    return [
        *(LAYOUT.instance(name) for name, _ in cases),
        *case_tables(cases, "summary", "curves"),
        *case_timings(cases),
    ]


def published_experiments(wildcards):
    """The instances of each experiment, as words of a command line: returns=a,b runtime=c."""
    return [
        f"{experiment}={','.join(names)}"
        for experiment, names in STUDY["published"][wildcards.source].items()
    ]


rule published_tables:
    input:
        published_inputs,
    output:
        [LAYOUT.published(table) for table in PUBLISHED_TABLES],
        timings=LAYOUT.published_timings(),
    log:
        LAYOUT.log("published/{source}"),
    conda:
        ENVIRONMENT
    params:
        output=OUTPUT,
        experiments=published_experiments,
        out=lambda wildcards, output: folder(output[0]),
        code=lambda wildcards: code_hash(
            "befrl.analysis.published",
            published.registry.module_name(wildcards.source),
        ),
    shell:
        "python -m befrl published {wildcards.source} --output {params.output:q}"
        " --experiments {params.experiments:q} --out {params.out:q} --timings {output.timings:q} > {log:q} 2>&1"


rule published:
    input:
        [LAYOUT.published("values", source) for source in STUDY["published"]],
        [
            LAYOUT.figure(ending, f"published_{source}")
            for source in STUDY["published"]
            for ending in ("svg", "png")
        ],
