"""Which extra hypotheses of the proof of Theorem 1 an instance satisfies, at its own horizon and at others.

For each step of the proof that fails as printed, `proof_steps.csv` has the weakest hypothesis known under which it
holds. Nothing is estimated here: every hypothesis is computed from the instance.
"""

from befrl import agents, instances
from befrl.analysis import hypotheses, proof_steps

CASE = {
    "instance": "name of the instance in the study",
    "H": "steps per episode; the family is built again, its other parameters unchanged, where it is not the instance's",
}
TABLES = {
    "hypotheses": {
        **CASE,
        "hypothesis": "name of the hypothesis, a function of analysis/hypotheses.py",
        "needed": "True: the proof has a gap without it; False: with it the printed form of a step holds",
        "holds": "whether the instance satisfies it",
        "claims": "claims of the ledger that hold under it",
        "meaning": "the hypothesis in words",
    },
    "answers": {
        **CASE,
        "proof": "whether all needed hypotheses hold together: the proof has no known gap, with corrected constants",
        "printed": "whether all hypotheses hold together: all those steps hold in their printed form too",
        "missing": "the needed hypotheses that do not hold",
    },
}


def uses():
    """BEF-RLSVI, whose default eta some hypotheses are about."""
    return agents.modules("bef-rlsvi", agents.parameters("bef-rlsvi", {}))


def study(name, instance, root_seed, horizons: list):
    """All hypotheses on the instance, and on the same family with each of the horizons."""
    tables = {"hypotheses": [], "answers": []}
    for H in dict.fromkeys([instance.horizon, *horizons]):
        problem = instance
        if instance.horizon != H:
            problem = instances.build(instance.family_name, instance.parameters | {"horizon": H})
        holds = {hypothesis: bool(check(problem)) for hypothesis, check in hypotheses.HYPOTHESES.items()}
        tables["hypotheses"] += [_row(name, H, hypothesis, held) for hypothesis, held in holds.items()]
        missing = [hypothesis for hypothesis in proof_steps.needed() if not holds[hypothesis]]
        answer = {"proof": not missing, "printed": all(holds.values()), "missing": " ".join(missing)}
        tables["answers"].append({"instance": name, "H": H, **answer})
    return tables


def _row(name, H, hypothesis, holds):
    return {
        "instance": name,
        "H": H,
        "hypothesis": hypothesis,
        "needed": hypothesis in proof_steps.needed(),
        "holds": holds,
        "claims": " ".join(proof_steps.claims_of(hypothesis)),
        "meaning": hypotheses.WORDS[hypothesis],
    }
