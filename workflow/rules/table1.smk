# Table 1 of the paper, measured: the study's own cases, and how seconds grow with the size of an instance.


rule table1:
    input:
        [
            f"{RESULTS}/regret/{instance}_{track}/{table}.csv"
            for instance, track in STUDY.compared_cases()
            for table in ("summary", "timings")
        ],
        [f"{RESULTS}/library/scaling/{name}.csv" for name in STUDY.library("scaling")],
    output:
        f"{RESULTS}/table1.csv",
    log:
        f"{RESULTS}/logs/table1.log",
    conda:
        ENVIRONMENT
    params:
        results=lambda wildcards, output: Path(output[0]).parent.as_posix(),
        cases=[f"{instance}_{track}" for instance, track in STUDY.compared_cases()],
        scaled=list(STUDY.library("scaling")),
        code=code_hash("befrl.analysis.table1"),
    shell:
        "python -m befrl table1 --results {params.results:q} --cases {params.cases} --scaled {params.scaled}"
        " --out {output:q} > {log:q} 2>&1"
