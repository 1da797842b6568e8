# Claims: one job attacks the claims of each section of the paper, then the ledger collects them.


for module, ids in STUDY.claim_sections().items():

    rule:
        name:
            f"claims_{module.rsplit('.', 1)[-1]}"
        output:
            [LAYOUT.claim(id) for id in ids],
        log:
            LAYOUT.log(f"claims/{module.rsplit('.', 1)[-1]}"),
        group:
            "claims"
        conda:
            ENVIRONMENT
        resources:
            **RESOURCES,
        params:
            ids=ids,
            trials=STUDY["claims"]["trials"],
            seed=STUDY["root_seed"],
            folder=lambda wildcards, output: folder(output[0]),
            code=code_hash("befrl.claims", *claims.modules(module)),
            words=claims.wording(ids),
        shell:
            "python -m befrl claim {params.ids} --trials {params.trials} --seed {params.seed} --folder {params.folder:q}"
            " > {log:q} 2>&1"


@checked
def unknown_claim(wildcards):
    raise unknown("claim", wildcards.claim, STUDY.claim_ids())


# Refuses a target of an unknown claim with a sentence.
rule claim:
    input:
        unknown_claim,
    output:
        LAYOUT.claim(),
    wildcard_constraints:
        claim=rf"(?!(?:{'|'.join(STUDY.claim_ids())})\.json)[^/]+",


rule ledger:
    input:
        [LAYOUT.claim(name) for name in STUDY.claim_ids()],
    output:
        table=LAYOUT.ledger(),
        errata=LAYOUT.errata(),
    log:
        LAYOUT.log("claims"),
    conda:
        ENVIRONMENT
    params:
        code=code_hash("befrl.claims", "befrl.claims.toolbox.errata"),
    shell:
        "python -m befrl ledger {input:q} --out {output.table:q} --errata {output.errata:q} > {log:q} 2>&1"
