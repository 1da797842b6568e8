# Figures: drawn from tables, three files per figure.

CASE_FIGURES = [
    kind for kind in figures.registry.names() if figures.scope(kind) == "case"
]


def figure_files(name):
    """The files of a figure, of which `snakemake --report` shows the first."""
    first, *others = [LAYOUT.figure(ending, name) for ending in figures.ENDINGS]
    about = {"caption": "../report/figure.rst", "category": "Figures"}
    return [report(first, labels={"figure": name}, **about), *others]


def case_figure_tables(wildcards):
    """The tables of the figures of a case."""
    case = [(wildcards.instance, wildcards.track)]
    return [
        path for kind in CASE_FIGURES for path in figures.tables(LAYOUT, kind, case)
    ]


rule case_figures:
    input:
        case_figure_tables,
    output:
        [figure_files(f"{kind}_{{instance}}_{{track}}") for kind in CASE_FIGURES],
    log:
        LAYOUT.log("figures/{instance}_{track}"),
    benchmark:
        LAYOUT.benchmark("figures/{instance}_{track}")
    group:
        "figures"
    resources:
        **STUDY.resources(),
    params:
        version=version("case-figures"),
    shell:
        f"{JOB} case-figures"
        " --version {params.version}"
        " --instance {wildcards.instance} --track {wildcards.track} > {log:q} 2>&1"


@checked
def figure_tables(wildcards):
    """The tables of a figure."""
    return figures.tables(LAYOUT, *STUDY.figure(wildcards.figure))


rule figure:
    input:
        figure_tables,
    output:
        figure_files("{figure}"),
    log:
        LAYOUT.log("figures/{figure}"),
    benchmark:
        LAYOUT.benchmark("figures/{figure}")
    group:
        "figures"
    resources:
        **STUDY.resources(),
    params:
        version=version("figure"),
    shell:
        f"{JOB} figure"
        " --version {params.version}"
        " --figure {wildcards.figure} > {log:q} 2>&1"


ruleorder: case_figures > figure
