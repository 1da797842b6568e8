"""Growth of the cost of an episode with the dimension d and the horizon H, for every algorithm.

The instance's family is built again with each size, and with each horizon, its other parameters unchanged. There every
algorithm that applies plays with its default parameters and with its VARIANTS, reward unknown, and

    seconds ~ d^a  at the instance's H,     seconds ~ H^b  at the instance's d,

with a and b by least squares of the logarithms. At small sizes they are below the exponents of the operations, since
every step has a fixed cost. Seconds are the median over the last half of the episodes.
"""

import numpy as np

from befrl import agents, instances
from befrl.analysis import components
from befrl.common.errors import Refused
from befrl.experiment import loop, settings
from befrl.experiment.run_file import SECONDS
from befrl.experiment.spec import RunSpec

# The parameter of each family that its dimension grows with.
SIZE = {"chain": "bins", "riverswim": "states"}
# Parameters with another kind of plan than the defaults.
VARIANTS = {
    "exp-ucrl": [{"relaxation": "gradient"}, {"relaxation": "sample"}, {"relaxation": "pinsker"}],
    "smrl": [{"bonus": "local"}],
    **{name: [{"share": "steps"}] for name in ("lsvi-phe", "lsvi-ucb", "opt-rlsvi", "rlsvi")},
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
    """Plans and seconds of each problem and each setting that is not refused there, and the settings' exponents."""
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
        # The instance itself may be among the sizes and among the horizons: it is measured once.
        key = repr(sorted(problem.parameters.items()))
        if key not in found:
            found[key] = _points(name, problem, root_seed, episodes, seeds)
        points += [{"instance": name, "role": "point", "varied": varied, **point} for point in found[key]]
    columns = components.tables("scaling")
    rows = {"points": points, "timings": [*points, *_exponents(points)]}
    return {table: [{key: row.get(key) for key in columns[table]} for row in part] for table, part in rows.items()}


def _points(name, problem, root_seed, episodes, seeds):
    """Plans and seconds of all settings on one problem."""
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
    """The exponents in d and in H of each setting."""
    groups = {}
    for point in points:
        groups.setdefault((point["algorithm"], point["setting"], point["varied"]), []).append(point)
    return [
        group[0] | {"role": "exponent", varied: None, "seconds": None, "exponent": _power(group, varied)}
        for (_, _, varied), group in groups.items()
    ]


def _power(points, varied):
    """The power of d, or of H, with which seconds grow; None if there is only one value of it."""
    x, y = (np.log([point[key] for point in points]) for key in (varied, "seconds"))
    return float(np.polyfit(x, y, 1)[0]) if len(set(x)) > 1 else None
