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


def styles(names):
    """The styles of new agents among some agents: figures are drawn again if they change."""
    found = style.assigned(STUDY.algorithms())
    return {name: found[name] for name in names if name in found}


AGENTS = f"--agents {settings(STUDY.algorithms())}"


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
    opening = [kind for kind in CASE_FIGURES if figures.headline(kind)]
    return " ".join(["--headline", *opening]) if first else ""


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
        styles=lambda wildcards: styles(STUDY["study"][wildcards.instance]["agents"]),
        agents=untracked(lambda wildcards: AGENTS),
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
        " --command {params.command:q} {params.headline} {params.agents} > {log:q} 2>&1"


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
        headline=lambda wildcards: (
            f"--headline {figure_kind(wildcards)}"
            if figures.headline(figure_kind(wildcards))
            else ""
        ),
        styles=lambda wildcards: styles(
            STUDY["agents"]
            if figures.scope(figure_kind(wildcards)) in ("study", "table")
            else ()
        ),
        agents=untracked(lambda wildcards: AGENTS),
        command=untracked(lambda wildcards: figure_command(wildcards.figure)),
        code=lambda wildcards: figure_code(figure_kind(wildcards)),
    shell:
        "python -m befrl figure {params.kind} --tables {input:q} --out {params.out:q}"
        " --command {params.command:q} {params.headline} {params.agents} > {log:q} 2>&1"


ruleorder: case_figures > figure
