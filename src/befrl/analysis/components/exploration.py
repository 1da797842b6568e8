"""Does exploration matter here? Greedy against the best tuned agent, on other seeds than it was tuned on.

theta = 0 is every estimator's implicit prior; where typical rewards lie below what it promises, greedy explores without
being told to, and an instance says nothing about exploration. So every instance comes with its answer: of the agents
and settings of GRIDS the one with the least mean regret on the tuning seeds runs on the evaluation seeds beside greedy.
Exploration matters if the paired bootstrap interval of the difference lies above zero.
"""

import numpy as np

from befrl import agents
from befrl.analysis import statistics
from befrl.common.streams import instance_key
from befrl.experiment import loop

GRIDS = {
    "bef-rlsvi": ("x", (0.3, 3.0, 30.0, 300.0)),
    "exp-ucrl": ("scale", (0.03, 0.1, 0.3, 1.0)),
    "exp-psrl": ("scale", (0.3, 1.0, 2.0, 4.0)),
}
RESAMPLES, LEVEL = 2000, 0.95
# Seeds in lock step: few, since a smooth instance in two dimensions takes tens of MB for each.
LOCKSTEP = 10

COLUMNS = {
    "instance": "name of the instance in the study",
    "role": "tried: a point of a grid on the tuning seeds; on the evaluation seeds greedy, best: the best of these, "
    "random: the uniformly random policy (exact), and difference: greedy less best",
    "agent": "name of the algorithm",
    "parameter": "parameter that its grid varies",
    "value": "value of that parameter",
    "episodes": "number of episodes",
    "seeds": "number of seeds",
    "mean": "mean over seeds of the cumulative pseudo-regret, reward unknown, in units of reward",
    "low": f"lower end of the bootstrap interval of the mean at level {LEVEL}, in units of reward",
    "high": f"upper end of the bootstrap interval of the mean at level {LEVEL}, in units of reward",
}


def study(name, instance, root_seed, episodes: int, tuning: int, evaluation: int):
    """Rows of the table; `tuning` and `evaluation` are numbers of seeds."""

    def regrets(algorithm, values, seeds):
        parameters = agents.parameters(algorithm, values)
        groups = [seeds[i : i + LOCKSTEP] for i in range(0, len(seeds), LOCKSTEP)]
        logs = [
            loop.run(instance, algorithm, parameters, "U", episodes, group, root_seed, name)["regret"]
            for group in groups
        ]
        return np.concatenate(logs).sum(1)

    weights = {
        seeds: statistics.resampling_weights(
            seeds, RESAMPLES, np.random.default_rng([root_seed, instance_key(name), seeds])
        )
        for seeds in (tuning, evaluation)
    }

    def row(role, algorithm, parameter, value, values):
        low, high = statistics.bootstrap_mean(values, weights[len(values)], LEVEL)
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
    return [
        *tried,
        row("greedy", "greedy", None, None, greedy),
        row("best", *setting, best),
        row("random", "random", None, None, random),
        row("difference", *setting, greedy - best),
    ]


def answer(table) -> dict:
    """In short, from the table: what greedy and the best agent lose, and whether exploration matters."""
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
