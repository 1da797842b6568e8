# Claims: each put to the test by itself, then the ledger.


@checked
def claim_code(wildcards):
    return code_hash("befrl.claims", claims.describe(wildcards.claim)["module"])


rule claim:
    output:
        f"{RESULTS}/claims/{{claim}}.json",
    log:
        f"{RESULTS}/logs/claims/{{claim}}.log",
    params:
        trials=STUDY["claims"]["trials"],
        seed=STUDY["root_seed"],
        code=claim_code,
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl claim {wildcards.claim} --trials {params.trials} --seed {params.seed} --out {output}"
        " > {log} 2>&1"


rule ledger:
    input:
        [f"{RESULTS}/claims/{name}.json" for name in STUDY.claim_ids()],
    output:
        f"{RESULTS}/claims.csv",
    log:
        f"{RESULTS}/logs/claims.log",
    params:
        code=code_hash("befrl.claims"),
    conda:
        ENVIRONMENT
    shell:
        "python -m befrl claim --table {input} --out {output} > {log} 2>&1"
