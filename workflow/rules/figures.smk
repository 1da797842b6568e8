# Figures: drawn from the tables, three files each.


@checked
def figure_cases(wildcards):
    return figures.parse(wildcards.figure, STUDY.cases())[1]


def figure_kind(wildcards):
    return FIGURE_NAMES[wildcards.figure][0]


def figure_folders(wildcards):
    return [f"{RESULTS}/regret/{instance}_{track}" for instance, track in figure_cases(wildcards)]


def figure_headline(wildcards):
    """The regret figures of the study's headline instances open the report."""
    cases = figure_cases(wildcards)
    first = figure_kind(wildcards) == "regret" and STUDY["study"][cases[0][0]]["headline"]
    return "--headline" if first else ""


rule figure:
    input:
        lambda wildcards: [
            f"{folder}/{table}.csv"
            for folder in figure_folders(wildcards)
            for table in ("summary", "curves", "paired")
        ],
    output:
        f"{FIGURES}/{{figure}}.svg",
        f"{FIGURES}/{{figure}}.png",
        f"{FIGURES}/{{figure}}.json",
    log:
        f"{RESULTS}/logs/figures/{{figure}}.log",
    params:
        kind=figure_kind,
        folders=figure_folders,
        out=f"{FIGURES}/{{figure}}",
        headline=figure_headline,
        command=lambda wildcards: f"snakemake --cores all {FIGURES}/{wildcards.figure}.svg",
        code=lambda wildcards: code_hash("befrl.figures.render", figures.module_name(figure_kind(wildcards))),
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl figure {params.kind} --tables {params.folders} --out {params.out}"
        " --command {params.command:q} {params.headline} > {log} 2>&1"
