# Claims: each put to the test by itself, then the ledger.


rule claim:
    output:
        f"{RESULTS}/claims/{{claim}}.json",
    log:
        f"{RESULTS}/logs/claims/{{claim}}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=STUDY["jobs"]["mem_mb"],
        runtime=STUDY["jobs"]["runtime"],
    params:
        trials=STUDY["claims"]["trials"],
        seed=STUDY["root_seed"],
        code=claim_code,
    shell:
        "python -m befrl claim {wildcards.claim} --trials {params.trials} --seed {params.seed} --out {output:q}"
        " > {log:q} 2>&1"


rule ledger:
    input:
        [f"{RESULTS}/claims/{name}.json" for name in STUDY.claim_ids()],
    output:
        f"{RESULTS}/claims.csv",
    log:
        f"{RESULTS}/logs/claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_hash("befrl.claims"),
    shell:
        "python -m befrl claim --table {input:q} --out {output:q} > {log:q} 2>&1"
