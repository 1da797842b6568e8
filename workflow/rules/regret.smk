# Regret: tidy tables of all runs of a case, a measured version of the paper's Table 1, and tables about the tables.


@checked
def case_runs(wildcards):
    """The run files of a case, and the outcomes of its tuning."""
    case, instance = (wildcards.instance, wildcards.track), wildcards.instance
    runs = [
        LAYOUT.run(*case, agent, batch)
        for agent in STUDY.case(*case)["agents"]
        for batch in STUDY.batches(instance)
    ]
    return runs + [LAYOUT.tuned(*case, agent) for agent in STUDY.tuned(instance)]


rule aggregate:
    input:
        case_runs,
    output:
        [LAYOUT.regret(table) for table in REGRET_TABLES],
        LAYOUT.regret_timings(),
    log:
        LAYOUT.log("regret/{instance}_{track}"),
    benchmark:
        LAYOUT.benchmark("regret/{instance}_{track}")
    # No group: Snakemake would count all inputs of a group's jobs again for every run that finishes.
    resources:
        **STUDY.resources(),
    params:
        version=version("aggregate"),
    shell:
        f"{JOB} aggregate"
        " --version {params.version}"
        " --instance {wildcards.instance} --track {wildcards.track} > {log:q} 2>&1"


rule table1:
    input:
        case_tables(STUDY.compared_cases(), "summary", "order"),
        [
            LAYOUT.component_timings("scaling", name)
            for name in STUDY.component("scaling")
        ],
    output:
        report(LAYOUT.table1(), caption="../report/table1.rst", category="Tables"),
        LAYOUT.table1_timings(),
    log:
        LAYOUT.log("table1"),
    benchmark:
        LAYOUT.benchmark("table1")
    localrule: True
    params:
        version=version("table1"),
    shell:
        f"{JOB} table1" " --version {params.version} > {log:q} 2>&1"


rule improvement:
    input:
        [
            LAYOUT.run(*case, agent, batch)
            for case in STUDY.compared_cases()
            for agent in STUDY.case(*case)["agents"]
            for batch in STUDY.batches(case[0])
        ],
    output:
        LAYOUT.improvement(),
        LAYOUT.significance(),
    log:
        LAYOUT.log("improvement"),
    benchmark:
        LAYOUT.benchmark("improvement")
    resources:
        **STUDY.resources(),
    params:
        version=version("improvement"),
    shell:
        f"{JOB} improvement" " --version {params.version} > {log:q} 2>&1"


rule coverage:
    output:
        LAYOUT.coverage(),
    log:
        LAYOUT.log("coverage"),
    benchmark:
        LAYOUT.benchmark("coverage")
    group:
        "components"
    resources:
        **STUDY.resources(),
    params:
        version=version("coverage"),
    shell:
        f"{JOB} coverage" " --version {params.version} > {log:q} 2>&1"


rule columns:
    output:
        LAYOUT.columns(),
    log:
        LAYOUT.log("columns"),
    benchmark:
        LAYOUT.benchmark("columns")
    localrule: True
    params:
        version=version("columns"),
    shell:
        f"{JOB} columns" " --version {params.version} > {log:q} 2>&1"
