# Figures: drawn from the tables, three files each.


rule figure:
    input:
        figure_inputs,
    output:
        f"{FIGURES}/{{figure}}.svg",
        f"{FIGURES}/{{figure}}.png",
        f"{FIGURES}/{{figure}}.json",
    log:
        f"{RESULTS}/logs/figures/{{figure}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        kind=figure_kind,
        tables=figure_tables,
        out=f"{FIGURES}/{{figure}}",
        headline=figure_headline,
        command=lambda wildcards: f"snakemake --cores all {FIGURES}/{wildcards.figure}.svg",
        code=lambda wildcards: code_hash(
            "befrl.figures.render", figures.module_name(figure_kind(wildcards))
        ),
    shell:
        "python -m befrl figure {params.kind} --tables {params.tables:q} --out {params.out:q}"
        " --command {params.command:q} {params.headline} > {log:q} 2>&1"
