"""Growth of regret with K, H and d: the envelope E(K) = max_eps R(K, eps) over a geometric grid of gaps eps.

On one instance regret is logarithmic in K, which says nothing about a minimax rate. If a gap eps is detected after
c/eps^2 episodes, R = min(eps K, c/eps) up to logarithms and E = sqrt(c K): the slope of log E against log K is 1/2. It
is 1, with the maximum at the largest gap, if an algorithm fails at some gap, and 0 if regret is logarithmic uniformly
in eps. `envelope.py` fits the slope where the maximum is inside the grid, and removes the bias of a maximum.

    jao     eps is the instance's own; the bonus of the first arm is proportional to it
    chain   eps is the contrast of the rewards, which multiplies all gaps

Slopes in d (arms) and H are those after `short` episodes, on jao alone. With H, `rate`, `leave` and eps fall as 1/H, so
that the span of V* grows as H, as in lower bounds. The paper's bound sqrt(d^3 H^3 K) is for the worst instance, so a
smaller slope on one family does not contradict it. `x = 0` is greedy. log K in x_k and in the bonus of UCBVI is that of
the whole run at every k.
"""

import numpy as np

from befrl import agents, instances
from befrl.analysis import envelope
from befrl.analysis.intervals import mean_interval
from befrl.common.defaults import LEVEL, LOCKSTEP
from befrl.common.errors import InputError, Refused
from befrl.common.streams import instance_key
from befrl.experiment import runs
from befrl.experiment.settings import setting_text
from befrl.experiment.spec import RunSpec

IN_EPISODES = {  # settings for the growth with K; IN_SIZE has those for d and H
    "bef-rlsvi": [{"x": 0.0}, {"x": 0.1}, {"x": 1.0}, {"x": 10.0}, {"x": 100.0}, {}],
    "bef-seed": [{"scale": 0.1}, {}],
    "exp-ucrl": [{"scale": 0.1}, {}],
    "exp-psrl": [{}],
    "ucbvi": [{"scale": 0.001}],
}
IN_SIZE = {"bef-rlsvi": [{"x": 1.0}, {"x": 10.0}, {"scale": 1e-6}, {"scale": 1e-5}], "exp-psrl": [{}]}
CLAIMED = {"K": 0.5, "d": 1.5, "H": 1.5}
LARGEST = {"jao": 0.45, "chain": 1.0}  # largest gap of each family
RATIO = 1.8  # of adjacent gaps
MARKS = 10  # points of the envelope in each of two decades


def uses():
    """The agents of IN_EPISODES, with their default estimators and planners."""
    return [name for agent in IN_EPISODES for name in agents.modules(agent, agents.parameters(agent, {}))]


def study(name, instance, root_seed, episodes: int, seeds: int, gaps: int, sizes: list, horizons: list, short: int):
    """Envelopes and slopes in K, and on jao those in d, for `sizes` arms, and in H, both after `short` episodes."""
    _check(name, instance, {"episodes": episodes, "seeds": seeds, "gaps": gaps, "sizes": sizes, "horizons": horizons})
    eps = LARGEST[instance.family_name] / RATIO ** np.arange(gaps)
    tables = {"points": [], "envelopes": [], "slopes": []}

    def regrets(settings, change, count, marks):
        """Cumulative regret at some episodes by setting, each (gaps, seeds, marks)."""
        found = {}
        for gap in eps:
            problem = instances.build(instance.family_name, _parameters(instance, gap, change))
            for agent, values in settings.items():
                spec = RunSpec.of(problem, name, agent, values, count, range(seeds), root_seed=root_seed)
                total = runs.run_rows(spec, LOCKSTEP)[0]["regret"].cumsum(2)[..., marks - 1]
                for setting, part in zip(values, total, strict=True):
                    found.setdefault((agent, setting_text(agent, setting)), []).append(part)
        return {setting: np.stack(parts) for setting, parts in found.items()}

    def add(varied, values, fitted, count, by_setting):
        for (agent, setting), found in by_setting.items():
            rng = np.random.default_rng([root_seed, instance_key(f"{name} {varied} {agent} {setting}")])
            rows = _rows(values, fitted, found, eps, {"episodes": count, "seeds": seeds}, rng)
            rows["slopes"][0]["claimed"] = CLAIMED[varied]
            head = {"instance": name, "agent": agent, "setting": setting, "varied": varied}
            for table, part in rows.items():
                tables[table] += [head | row for row in part]

    marks = np.unique(np.geomspace(max(1, episodes / 100), episodes, 2 * MARKS + 1).round().astype(int))
    add("K", marks, marks >= round(episodes / 10), episodes, regrets(IN_EPISODES, {}, episodes, marks))
    sized = {"d": {2 * A: {"arms": A} for A in sizes}, "H": {H: {"horizon": H} for H in horizons}}
    ran = {}
    for varied, changes in sized.items() if instance.family_name == "jao" else ():
        parts = []
        for change in changes.values():
            key = tuple((instance.parameters | change).values())  # the instance may be in both lists: run it once
            ran[key] = ran.get(key) or regrets(IN_SIZE, change, short, np.array([short]))
            parts.append(ran[key])
        joined = {setting: np.concatenate([part[setting] for part in parts], axis=2) for setting in parts[0]}
        values = np.array(list(changes))
        add(varied, values, values > 0, short, joined)
    return tables


def _check(name, instance, settings):
    family = instance.family_name
    if family not in LARGEST:
        raise Refused(
            f"component study 'rates': instance '{name}' is of family '{family}', whose gaps have no parameter: "
            f"choose one of family {', '.join(LARGEST)}"
        )
    least = {"episodes": 2, "seeds": 4, "gaps": 3}
    if family == "jao":
        least |= {"sizes": 2, "horizons": instance.horizon}
    for key, bound in least.items():
        value = settings[key]
        wrong = f"component study 'rates': {key} = {value} is not allowed"
        if np.min(value) < bound:
            raise InputError(f"{wrong}: it must be at least {bound}")
        if isinstance(value, list) and len(set(value)) < 2:
            raise InputError(f"{wrong}: a slope needs two values")


def _parameters(instance, eps, change):
    own = instance.parameters | change
    if instance.family_name == "chain":
        return own | {"contrast": eps}
    slower = instance.horizon / own["horizon"]
    probabilities = {"rate": own["rate"] * slower, "leave": own["leave"] * slower, "eps": eps * slower}
    return own | probabilities | {"bonus": own["bonus"] * eps / own["eps"]}


def _rows(values, fitted, regrets, eps, sample, rng):
    """The rows of one setting in each table, from regrets (gaps, seeds, values); the slope is of `fitted` values."""
    mean = regrets.mean(1)
    low, high = mean_interval(regrets.swapaxes(0, 1), LEVEL, least=0.0)
    points = [
        {"value": value, "eps": gap, **sample, "mean": mean[i, j], "low": low[i, j], "high": high[i, j]}
        for i, gap in enumerate(eps)
        for j, value in enumerate(values)
    ]
    found = envelope.bootstrap(regrets, rng)
    highest = [
        {"value": value, **sample, "mean": top, "low": low, "high": high, "eps": eps[at], "edge": edge}
        for value, at, edge, top, low, high in zip(
            values, mean.argmax(0), envelope.edges(regrets), *envelope.interval(found, LEVEL), strict=True
        )
    ]
    slope = envelope.growth(values[fitted], regrets[..., fitted], found[:, fitted], LEVEL)
    return {"points": points, "envelopes": highest, "slopes": [sample | slope]}
