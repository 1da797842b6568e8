# Figures: drawn from tables, three files per figure.


@checked
def figure_entry(wildcards):
    if wildcards.figure not in FIGURES:
        raise unknown("figure", wildcards.figure, FIGURES)
    return FIGURES[wildcards.figure]


def figure_kind(wildcards):
    return figure_entry(wildcards)[0]


def figure_tables(wildcards):
    return figures.tables(LAYOUT, *figure_entry(wildcards))


def figure_headline(wildcards):
    """The flag of the figures that open the report: Table 1 and the regret figures of headline instances."""
    kind, shown = figure_entry(wildcards)
    first = kind == "table1" or (
        kind in ("ordering", "regret") and STUDY["study"][shown[0][0]]["headline"]
    )
    return "--headline" if first else ""


rule figure:
    input:
        figure_tables,
    output:
        [LAYOUT.figure(ending) for ending in ("svg", "png", "json")],
    log:
        LAYOUT.log("figures/{figure}"),
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        kind=figure_kind,
        out=lambda wildcards, output: output[0].removesuffix(".svg"),
        headline=figure_headline,
        command=lambda wildcards: f"snakemake --cores all {LAYOUT.figure('svg', wildcards.figure)}",
        code=lambda wildcards: code_hash(
            "befrl.figures.support.render",
            figures.catalogue.module_name(figure_kind(wildcards)),
        ),
    shell:
        "python -m befrl figure {params.kind} --tables {input:q} --out {params.out:q}"
        " --command {params.command:q} {params.headline} > {log:q} 2>&1"
