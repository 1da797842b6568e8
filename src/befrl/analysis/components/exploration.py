"""Whether exploration matters on an instance: greedy against the best tuned agent.

It matters if the paired interval of the difference in regret, over the evaluation seeds, is above zero. The best point
of GRIDS is chosen on the tuning seeds. Greedy explores by itself where theta = 0, its start, overestimates rewards.
"""

import numpy as np

from befrl import agents
from befrl.analysis.intervals import mean_with_interval
from befrl.common.defaults import LEVEL
from befrl.experiment import runs
from befrl.experiment.spec import RunSpec

GRIDS = {
    "bef-rlsvi": ("x", (0.3, 3.0, 30.0, 300.0)),
    "exp-ucrl": ("scale", (0.03, 0.1, 0.3, 1.0)),
    "exp-psrl": ("scale", (0.3, 1.0, 2.0, 4.0)),
}
LOCKSTEP = 40  # rows; few, because a smooth instance in two dimensions takes tens of MB per row


def uses():
    """Greedy play and the agents of GRIDS, with their default estimators and planners."""
    return [name for agent in ("greedy", *GRIDS) for name in agents.modules(agent, agents.parameters(agent, {}))]


def study(name, instance, root_seed, episodes: int, tuning: int, evaluation: int):
    """Regret of all points tried, of greedy and of the best; `tuning` and `evaluation` are numbers of seeds."""

    def regrets(algorithm, settings, seeds):
        """The final regrets of some settings, (settings, seeds)."""
        spec = RunSpec.of(instance, name, algorithm, settings, episodes, seeds, root_seed=root_seed)
        return runs.run_rows(spec, LOCKSTEP)[0]["regret"].sum(2)

    def row(role, algorithm, parameter, value, values):
        numbers = mean_with_interval(values, LEVEL, least=None if role == "difference" else 0.0)
        setting = {"agent": algorithm, "parameter": parameter, "value": value}
        return {"instance": name, "role": role, **setting, "episodes": episodes, "seeds": len(values), **numbers}

    tried = []
    for algorithm, (parameter, values) in GRIDS.items():
        finals = regrets(algorithm, [{parameter: value} for value in values], range(tuning))
        tried += [row("tried", algorithm, parameter, *point) for point in zip(values, finals, strict=True)]
    chosen = min(tried, key=lambda point: point["mean"])
    setting = chosen["agent"], chosen["parameter"], chosen["value"]
    held_out = range(tuning, tuning + evaluation)
    (greedy,) = regrets("greedy", [{}], held_out)
    (best,) = regrets(setting[0], [{setting[1]: setting[2]}], held_out)
    random = np.full(evaluation, episodes * (instance.optimal_value - instance.uniform_value))
    shown = {
        "greedy": row("greedy", "greedy", None, None, greedy),
        "best": row("best", *setting, best),
        "random": row("random", "random", None, None, random),
        "difference": row("difference", *setting, greedy - best),
    }
    scale, matters, shares = shown["random"]["mean"], shown["difference"]["low"] > 0, []
    for own in (shown["greedy"], shown["best"]):
        numbers = {"share": own["mean"] / scale, "low": own["low"] / scale, "high": own["high"] / scale}
        names = {key: own[key] for key in ("instance", "role", "agent", "episodes", "seeds")}
        shares.append(names | numbers | {"matters": matters})
    return {"points": [*tried, *shown.values()], "shares": shares}


def answer(table) -> dict:
    """From the table of points: the regret of greedy and of the best agent, and whether exploration matters."""
    by_role = table[table["role"] != "tried"].set_index("role")
    best, difference = by_role.loc["best"], by_role.loc["difference"]
    return {
        **{key: int(best[key]) for key in ("episodes", "seeds")},
        **{role: float(by_role.loc[role, "mean"]) for role in ("random", "greedy", "best")},
        "best_agent": f"{best['agent']}, {best['parameter']} = {best['value']:g}",
        **{end: float(difference[end]) for end in ("low", "high")},
        "matters": bool(difference["low"] > 0),
    }
