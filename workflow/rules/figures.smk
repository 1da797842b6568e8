# Figures: drawn from tables, three files per figure.

ENDINGS = ("svg", "png", "json")


@checked
def figure_entry(wildcards):
    if wildcards.figure not in FIGURES:
        raise unknown("figure", wildcards.figure, FIGURES)
    return FIGURES[wildcards.figure]


def figure_kind(wildcards):
    return figure_entry(wildcards)[0]


def figure_tables(wildcards):
    return figures.tables(LAYOUT, *figure_entry(wildcards))


def figure_code(*kinds):
    modules = map(figures.registry.module_name, kinds)
    return code_hash("befrl.figures.support.render", *modules)


def figure_command(name):
    """The command that the report shows beside a figure."""
    command = f"snakemake --cores all {LAYOUT.figure('svg', name)}"
    given = [
        shlex.quote(os.path.relpath(path)) for path in workflow.overwrite_configfiles
    ]
    return " ".join([command, "--configfile", *given]) if given else command


def drawn(output):
    """The paths of figures without their endings."""
    return [path.removesuffix(".svg") for path in output if path.endswith(".svg")]


def looks(numbers):
    """The numbers of new agents' looks, as words of a command line."""
    return f"--looks {settings(numbers)}" if numbers else ""


# The figures of a case come from one job, as its tables do: to load matplotlib takes as long as to draw.
CASE_FIGURES = [
    kind for kind in figures.registry.names() if figures.scope(kind) == "case"
]


@checked
def case_figure_tables(wildcards):
    case, cases = (wildcards.instance, wildcards.track), STUDY.compared_cases()
    if case not in cases:
        raise unknown("case", "_".join(case), map("_".join, cases))
    return [
        path for kind in CASE_FIGURES for path in figures.tables(LAYOUT, kind, [case])
    ]


def case_headlines(wildcards):
    """The figures of headline instances that open the report."""
    first = STUDY["study"][wildcards.instance]["headline"]
    return "--headline ordering regret" if first else ""


rule case_figures:
    input:
        case_figure_tables,
    output:
        [
            LAYOUT.figure(ending, f"{kind}_{{instance}}_{{track}}")
            for kind in CASE_FIGURES
            for ending in ENDINGS
        ],
    log:
        LAYOUT.log("figures/{instance}_{track}"),
    group:
        "figures"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        kinds=CASE_FIGURES,
        out=lambda wildcards, output: drawn(output),
        headline=case_headlines,
        looks=lambda wildcards: looks(STUDY.looks(wildcards.instance)),
        # The same config under another name draws the same figure.
        command=untracked(
            lambda wildcards: [
                figure_command(f"{kind}_{wildcards.instance}_{wildcards.track}")
                for kind in CASE_FIGURES
            ]
        ),
        code=figure_code(*CASE_FIGURES),
    shell:
        "python -m befrl figure {params.kinds} --tables {input:q} --out {params.out:q}"
        " --command {params.command:q} {params.headline} {params.looks} > {log:q} 2>&1"


rule figure:
    input:
        figure_tables,
    output:
        [LAYOUT.figure(ending) for ending in ENDINGS],
    log:
        LAYOUT.log("figures/{figure}"),
    group:
        "figures"
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        kind=figure_kind,
        out=lambda wildcards, output: drawn(output),
        # Table 1 is among the figures that open the report.
        headline=lambda wildcards: (
            "--headline table1" if figure_kind(wildcards) == "table1" else ""
        ),
        looks=lambda wildcards: looks(
            STUDY.looks() if figures.scope(figure_kind(wildcards)) == "study" else {}
        ),
        command=untracked(lambda wildcards: figure_command(wildcards.figure)),
        code=lambda wildcards: figure_code(figure_kind(wildcards)),
    shell:
        "python -m befrl figure {params.kind} --tables {input:q} --out {params.out:q}"
        " --command {params.command:q} {params.headline} {params.looks} > {log:q} 2>&1"


ruleorder: case_figures > figure
