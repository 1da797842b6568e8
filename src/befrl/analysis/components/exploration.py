"""Whether exploration matters on an instance: greedy against the best tuned agent.

All estimators start at theta = 0. Where typical rewards lie below what theta = 0 predicts, greedy explores by itself,
and the instance says nothing about exploration. So each instance comes with an answer. The point of GRIDS with the
least mean regret on the tuning seeds runs beside greedy on the evaluation seeds; exploration matters if the paired
interval of the difference in regret lies above zero.
"""

import numpy as np

from befrl import agents
from befrl.analysis.intervals import mean_interval
from befrl.experiment import loop
from befrl.experiment.spec import RunSpec

GRIDS = {
    "bef-rlsvi": ("x", (0.3, 3.0, 30.0, 300.0)),
    "exp-ucrl": ("scale", (0.03, 0.1, 0.3, 1.0)),
    "exp-psrl": ("scale", (0.3, 1.0, 2.0, 4.0)),
}
LEVEL = 0.95
# Seeds in lock step. They are few because a smooth instance in two dimensions takes tens of MB per seed.
LOCKSTEP = 10

TABLES = {
    "points": {
        "instance": "name of the instance in the study",
        "role": "tried: a point of a grid on the tuning seeds; on the evaluation seeds greedy; best: the best point "
        "tried; random: the uniformly random policy, exactly; difference: greedy minus best, paired by seed",
        "agent": "name of the algorithm",
        "parameter": "parameter that its grid varies",
        "value": "value of that parameter",
        "episodes": "number of episodes",
        "seeds": "number of seeds",
        "mean": "mean over seeds of the cumulative pseudo-regret, reward unknown, in units of reward",
        "low": f"lower end of the interval of the mean at level {LEVEL}, in units of reward",
        "high": f"upper end of the interval of the mean at level {LEVEL}, in units of reward",
    },
    "shares": {
        "instance": "name of the instance in the study",
        "role": "greedy, or best: the best agent and setting, chosen on the tuning seeds",
        "agent": "name of the algorithm",
        "episodes": "number of episodes",
        "seeds": "number of evaluation seeds",
        "share": "mean regret divided by that of the uniformly random policy",
        "low": "lower end of the interval of the share",
        "high": "upper end of the interval of the share",
        "matters": "whether exploration matters on the instance: greedy minus best has an interval above zero",
    },
}


def uses():
    """Greedy play and the agents of GRIDS, with their default estimators and planners."""
    return [name for agent in ("greedy", *GRIDS) for name in agents.modules(agent, agents.parameters(agent, {}))]


def study(name, instance, root_seed, episodes: int, tuning: int, evaluation: int):
    """Regret of all points tried, of greedy and of the best; `tuning` and `evaluation` are numbers of seeds."""

    def regrets(algorithm, values, seeds):
        spec = RunSpec.of(instance, name, algorithm, values, episodes, seeds, root_seed=root_seed)
        return np.concatenate([loop.run(group)["regret"] for group in spec.groups(LOCKSTEP)]).sum(1)

    def row(role, algorithm, parameter, value, values):
        low, high = mean_interval(values, LEVEL, least=None if role == "difference" else 0.0)
        numbers = {"seeds": len(values), "mean": float(values.mean()), "low": float(low), "high": float(high)}
        setting = {"agent": algorithm, "parameter": parameter, "value": value}
        return {"instance": name, "role": role, **setting, "episodes": episodes, **numbers}

    tried = [
        row("tried", algorithm, parameter, value, regrets(algorithm, {parameter: value}, range(tuning)))
        for algorithm, (parameter, values) in GRIDS.items()
        for value in values
    ]
    chosen = min(tried, key=lambda point: point["mean"])
    setting = chosen["agent"], chosen["parameter"], chosen["value"]
    then = range(tuning, tuning + evaluation)
    greedy = regrets("greedy", {}, then)
    best = regrets(setting[0], {setting[1]: setting[2]}, then)
    random = np.full(evaluation, episodes * (instance.optimal_value - instance.uniform_value))
    points = [
        *tried,
        row("greedy", "greedy", None, None, greedy),
        row("best", *setting, best),
        row("random", "random", None, None, random),
        row("difference", *setting, greedy - best),
    ]
    return {"points": points, "shares": _shares(points)}


def _shares(points):
    """The regrets of greedy and of the best agent, divided by that of random play."""
    by_role = {row["role"]: row for row in points if row["role"] != "tried"}
    scale, matters = by_role["random"]["mean"], by_role["difference"]["low"] > 0
    found = []
    for role in ("greedy", "best"):
        row = by_role[role]
        names = {key: row[key] for key in ("instance", "role", "agent", "episodes", "seeds")}
        numbers = {"share": row["mean"] / scale, "low": row["low"] / scale, "high": row["high"] / scale}
        found.append(names | numbers | {"matters": matters})
    return found


def answer(table) -> dict:
    """From the table of points: the regret of greedy and of the best agent, and whether exploration matters."""
    by_role = table[table["role"] != "tried"].set_index("role")
    best, difference = by_role.loc["best"], by_role.loc["difference"]
    return {
        "episodes": int(best["episodes"]),
        "seeds": int(best["seeds"]),
        "random": float(by_role.loc["random", "mean"]),
        "greedy": float(by_role.loc["greedy", "mean"]),
        "best": float(best["mean"]),
        "best_agent": f"{best['agent']}, {best['parameter']} = {best['value']:g}",
        "low": float(difference["low"]),
        "high": float(difference["high"]),
        "matters": bool(difference["low"] > 0),
    }
