# Claims: one job tests the claims of each section of the paper, then the ledger collects them.

for section, ids in STUDY.claim_sections().items():

    rule:
        name:
            f"claims_{section}"
        output:
            [LAYOUT.claim(id) for id in ids],
        log:
            LAYOUT.log(f"claims/{section}"),
        benchmark:
            LAYOUT.benchmark(f"claims/{section}")
        group:
            "claims"
        resources:
            **STUDY.resources(),
        params:
            section=section,
            version=version("claims", section=section),
        shell:
            f"{JOB} claims"
            " --version {params.version}"
            " --section {params.section} > {log:q} 2>&1"


rule ledger:
    input:
        [LAYOUT.claim(id) for id in STUDY.claim_ids()],
    output:
        report(LAYOUT.ledger(), caption="../report/ledger.rst", category="Tables"),
        LAYOUT.errata(),
    log:
        LAYOUT.log("claims"),
    benchmark:
        LAYOUT.benchmark("claims")
    localrule: True
    params:
        version=version("ledger"),
    shell:
        f"{JOB} ledger" " --version {params.version} > {log:q} 2>&1"
