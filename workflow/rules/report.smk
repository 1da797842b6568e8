# The report: one page with everything that the study produced.


rule report:
    input:
        LAYOUT.instances(),
        [LAYOUT.instance(name) for name in STUDY["instances"]],
        case_tables(STUDY.cases(), "summary"),
        [LAYOUT.published("values", source) for source in STUDY["published"]],
        [LAYOUT.published_timings(source) for source in STUDY["published"]],
        [LAYOUT.claim(id) for id in STUDY.claim_ids()],
        [
            LAYOUT.figure(ending, name)
            for name in STUDY.figures
            for ending in ("svg", "json")
        ],
    output:
        report(LAYOUT.report(), caption="../report/page.rst", category="The page"),
    log:
        LAYOUT.log("report"),
    benchmark:
        LAYOUT.benchmark("report")
    localrule: True
    params:
        version=version("report"),
    shell:
        f"{JOB} report" " --version {params.version} > {log:q} 2>&1"
