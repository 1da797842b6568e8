# Published experiments: the authors' numbers beside ours. `snakemake --cores all published` makes only these.


@checked
def published_inputs(wildcards):
    """The instances and regret tables of the cases that repeat a source's experiments."""
    cases = STUDY.repeated(wildcards.source)
    instances = [LAYOUT.instance(name) for name, _ in cases]
    return instances + case_tables(cases, "summary", "curves")


rule published_tables:
    input:
        published_inputs,
    output:
        [LAYOUT.published(table) for table in PUBLISHED_TABLES],
        LAYOUT.published_timings(),
    log:
        LAYOUT.log("published/{source}"),
    benchmark:
        LAYOUT.benchmark("published/{source}")
    localrule: True
    params:
        version=version("published"),
    shell:
        f"{JOB} published"
        " --version {params.version}"
        " --source {wildcards.source} > {log:q} 2>&1"


rule published:
    input:
        [LAYOUT.published("values", source) for source in STUDY["published"]],
        [
            LAYOUT.figure(ending, name)
            for name, (kind, _) in STUDY.figures.items()
            if kind == "published"
            for ending in ("svg", "png")
        ],
    localrule: True
