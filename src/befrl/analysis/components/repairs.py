"""Which extra hypotheses of the proof of Theorem 1 (`hypotheses.py`) hold on an instance, also at other horizons."""

from befrl import agents, instances
from befrl.analysis import hypotheses


def uses():
    """BEF-RLSVI, whose default eta some hypotheses are about."""
    return agents.modules("bef-rlsvi", agents.parameters("bef-rlsvi", {}))


def study(name, instance, root_seed, horizons: list):
    """All hypotheses on the instance, and on the same family with each of the horizons."""
    needed = hypotheses.needed()
    tables = {"hypotheses": [], "answers": []}
    for H in dict.fromkeys([instance.horizon, *horizons]):
        problem = instance
        if instance.horizon != H:
            problem = instances.build(instance.family_name, instance.parameters | {"horizon": H})
        holds = {hypothesis: bool(check(problem)) for hypothesis, check in hypotheses.HYPOTHESES.items()}
        case = {"instance": name, "H": H}
        for hypothesis, held in holds.items():
            claims = [step["claim"] for step in hypotheses.steps() if step["hypothesis"] == hypothesis]
            row = {"hypothesis": hypothesis, "needed": hypothesis in needed, "holds": held}
            row |= {"claims": " ".join(claims), "meaning": hypotheses.WORDS[hypothesis]}
            tables["hypotheses"].append(case | row)
        missing = [hypothesis for hypothesis in needed if not holds[hypothesis]]
        answer = {"proof": not missing, "printed": all(holds.values()), "missing": " ".join(missing)}
        tables["answers"].append(case | answer)
    return tables
