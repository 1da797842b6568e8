# The report: one page with everything that the study produced.


localrules:
    all,
    columns,
    instances_table,
    ledger,
    published,
    published_tables,
    report,
    table1,


rule report:
    input:
        LAYOUT.instances(),
        [LAYOUT.instance(name) for name in STUDY["instances"]],
        case_tables(STUDY.cases(), "summary"),
        case_timings(STUDY.cases()),
        [LAYOUT.published("values", source) for source in STUDY["published"]],
        [LAYOUT.published_timings(source) for source in STUDY["published"]],
        [LAYOUT.claim(name) for name in STUDY.claim_ids()],
        [LAYOUT.figure(ending, name) for name in FIGURES for ending in ("svg", "json")],
    output:
        LAYOUT.report(),
    log:
        LAYOUT.log("report"),
    conda:
        ENVIRONMENT
    params:
        study=untracked(lambda wildcards: json.dumps(STUDY.config)),
        decided_by=STUDY.hash,
        code=code_hash("befrl.report.assemble"),
    shell:
        "python -m befrl report --study {params.study:q} --out {output:q} > {log:q} 2>&1"
