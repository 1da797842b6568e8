# Published experiments: the authors' numbers beside ours. `snakemake --cores all published` makes these alone.


rule published_tables:
    input:
        published_inputs,
    output:
        f"{RESULTS}/published/{{source}}/values.csv",
        f"{RESULTS}/published/{{source}}/curves.csv",
    log:
        f"{RESULTS}/logs/published/{{source}}.log",
    conda:
        ENVIRONMENT
    params:
        results=lambda wildcards, output: Path(output[0]).parents[2].as_posix(),
        instances=published_instances,
        out=lambda wildcards, output: Path(output[0]).parent.as_posix(),
        code=lambda wildcards: code_hash(
            "befrl.analysis.published",
            published.catalogue.module_name(wildcards.source),
        ),
    shell:
        "python -m befrl published {wildcards.source} --results {params.results:q} --instances {params.instances}"
        " --out {params.out:q} > {log:q} 2>&1"


rule published:
    input:
        [f"{RESULTS}/published/{source}/values.csv" for source in STUDY["published"]],
        [
            f"{FIGURES}/published_{source}.{end}"
            for source in STUDY["published"]
            for end in ("svg", "png")
        ],
