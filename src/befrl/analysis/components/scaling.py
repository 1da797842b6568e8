"""Growth of the cost of an episode with the dimension d and the horizon H, for every algorithm that applies.

    seconds ~ d^a  at the instance's H,     seconds ~ H^b  at the instance's d,

by least squares of the logarithms, with default parameters and with VARIANTS, reward unknown. Seconds are the median
over the last half of the episodes. At small sizes a and b are below the exponents of the operations, since every step
has a fixed cost.
"""

import numpy as np

from befrl import agents, instances
from befrl.analysis import components
from befrl.common.errors import Refused
from befrl.experiment import loop, settings
from befrl.experiment.run_file import SECONDS
from befrl.experiment.spec import RunSpec

SIZE = {"chain": "bins", "riverswim": "states"}  # the parameter that d grows with
VARIANTS = {  # parameters with another kind of plan than the defaults
    "exp-ucrl": [{"relaxation": "gradient"}, {"relaxation": "sample"}, {"relaxation": "pinsker"}],
    "smrl": [{"bonus": "local"}],
    **{
        name: [{"share": "steps"}]
        for name in ("ensemble-rlsvi", "lmc-lsvi", "lsvi-phe", "lsvi-ucb", "opt-rlsvi", "rlsvi")
    },
}


def uses():
    """All agents, with their default estimators and planners."""
    names = agents.registry.names()
    return [module for name in names for module in agents.modules(name, agents.parameters(name, {}))]


def measured(algorithm) -> list[str]:
    """The settings of an algorithm that are measured wherever it can run."""
    return [settings.setting_text(algorithm, values) for values in [{}, *VARIANTS.get(algorithm, [])]]


def applies(model, algorithm, values) -> bool:
    """Whether an algorithm can run on a model with these values of its parameters."""
    try:
        agents.specification(model, algorithm, agents.parameters(algorithm, values))
    except Refused:
        return False
    return True


def study(name, instance, root_seed, sizes: list, horizons: list, episodes: int, seeds: int):
    """Plans and seconds of every applicable setting on every problem, and the exponents of each setting."""
    family = instance.family_name
    if family not in SIZE:
        raise Refused(
            f"component study 'scaling': instance '{name}' is of family '{family}', which has no size: "
            f"choose one of family {', '.join(SIZE)}"
        )
    changes = [("d", {SIZE[family]: size}) for size in sizes] + [("H", {"horizon": horizon}) for horizon in horizons]
    points, found = [], {}
    for varied, change in changes:
        problem = instances.build(family, instance.parameters | change)
        key = repr(sorted(problem.parameters.items()))  # the instance may be in both lists: measure it once
        if key not in found:
            found[key] = _points(name, problem, root_seed, episodes, seeds)
        points += [{"instance": name, "role": "point", "varied": varied, **point} for point in found[key]]
    columns = components.tables("scaling")
    rows = {"points": points, "timings": [*points, *_exponents(points)]}
    return {table: [{key: row.get(key) for key in columns[table]} for row in part] for table, part in rows.items()}


def _points(name, problem, root_seed, episodes, seeds):
    names = agents.registry.names()
    wanted = [(algorithm, values) for algorithm in names for values in [{}, *VARIANTS.get(algorithm, [])]]
    late, points = slice(episodes // 2, None), []
    for algorithm, values in wanted:
        if not applies(problem.model, algorithm, values):
            continue
        log = loop.run(RunSpec.of(problem, name, algorithm, values, episodes, range(seeds), root_seed=root_seed))
        points.append(
            {
                "algorithm": algorithm,
                "setting": settings.setting_text(algorithm, values),
                "d": problem.model.d,
                "H": problem.horizon,
                "plans": float(np.median(log["plans"][late])),
                "seconds": float(np.median(sum(log[key] for key in SECONDS)[late])),
            }
        )
    return points


def _exponents(points):
    groups = {}
    for point in points:
        groups.setdefault((point["algorithm"], point["setting"], point["varied"]), []).append(point)
    return [
        group[0] | {"role": "exponent", varied: None, "seconds": None, "exponent": _power(group, varied)}
        for (_, _, varied), group in groups.items()
    ]


def _power(points, varied):
    x, y = (np.log([point[key] for point in points]) for key in (varied, "seconds"))
    return float(np.polyfit(x, y, 1)[0]) if len(set(x)) > 1 else None
