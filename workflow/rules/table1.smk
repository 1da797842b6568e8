# A measured version of the paper's Table 1: the study's own cases, and how run time grows with the size of an instance.


rule table1:
    input:
        case_tables(STUDY.compared_cases(), "summary", "order"),
        case_timings(STUDY.compared_cases()),
        [
            LAYOUT.component_timings("scaling", name)
            for name in STUDY.component("scaling")
        ],
    output:
        table=LAYOUT.table1(),
        timings=LAYOUT.table1_timings(),
    log:
        LAYOUT.log("table1"),
    conda:
        ENVIRONMENT
    params:
        output=OUTPUT,
        cases=[f"{instance}_{track}" for instance, track in STUDY.compared_cases()],
        scaled=list(STUDY.component("scaling")),
        code=code_hash("befrl.analysis.table1"),
    shell:
        "python -m befrl table1 --output {params.output:q} --cases {params.cases} --scaled {params.scaled}"
        " --out {output.table:q} --timings {output.timings:q} > {log:q} 2>&1"
