# The report: one page with everything that the study made.


localrules:
    all,
    instances_table,
    ledger,
    published,
    published_tables,
    report,
    table1,


rule report:
    input:
        f"{RESULTS}/instances.csv",
        [f"{RESULTS}/instances/{name}.npz" for name in STUDY["instances"]],
        [
            f"{RESULTS}/regret/{instance}_{track}/{table}.csv"
            for instance, track in STUDY.cases()
            for table in ("summary", "timings")
        ],
        [f"{RESULTS}/published/{source}/values.csv" for source in STUDY["published"]],
        [f"{RESULTS}/claims/{name}.json" for name in STUDY.claim_ids()],
        [f"{FIGURES}/{name}.{end}" for name in FIGURE_NAMES for end in ("svg", "json")],
    output:
        f"{RESULTS}/report.html",
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        study=json.dumps(STUDY.config),
        code=code_hash("befrl.report.assemble"),
    shell:
        "python -m befrl report --study {params.study:q} --out {output:q} > {log:q} 2>&1"
