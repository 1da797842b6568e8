# Claims: one job tests each claim, then the ledger collects them.


@checked
def claim_code(wildcards):
    return code_hash("befrl.claims", claims.describe(wildcards.claim)["module"])


rule claim:
    output:
        LAYOUT.claim(),
    log:
        LAYOUT.log("claims/{claim}"),
    conda:
        ENVIRONMENT
    resources:
        **RESOURCES,
    params:
        trials=STUDY["claims"]["trials"],
        seed=STUDY["root_seed"],
        code=claim_code,
    shell:
        "python -m befrl claim {wildcards.claim} --trials {params.trials} --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule ledger:
    input:
        [LAYOUT.claim(name) for name in STUDY.claim_ids()],
    output:
        LAYOUT.ledger(),
    log:
        LAYOUT.log("claims"),
    conda:
        ENVIRONMENT
    params:
        code=code_hash("befrl.claims"),
    shell:
        "python -m befrl ledger {input:q} --out {output:q} > {log:q} 2>&1"
