"""What an episode costs as the problem grows: seconds of every algorithm against the dimension d and the horizon H.

The family of the instance is built again with each size, and with each horizon, all its other parameters as they are.
There every algorithm that is not refused plays with its default parameters and with its VARIANTS, reward unknown, and

    seconds ~ d^a  at the instance's H,     seconds ~ H^b  at the instance's d,

where the exponent a, or b, is the slope of the least-squares line through (log d, log seconds), or (log H, log
seconds). At small sizes it is below that of the operations, as every step costs something whatever its size. All
algorithms run on one problem before the next, so that none has a slow phase of the machine for itself, and seconds are
a median over the last half of the episodes. Everything but the seconds and the exponents is the same in every run.
"""

import numpy as np

from befrl import agents, instances
from befrl.common.errors import Refused
from befrl.experiment import loop
from befrl.experiment.run_file import SECONDS

# The parameter of each family that its dimension grows with.
SIZE = {"chain": "bins", "riverswim": "states"}
# Parameters that make another kind of plan than the default ones.
VARIANTS = {
    "exp-ucrl": [{"relaxation": "gradient"}, {"relaxation": "sample"}, {"relaxation": "pinsker"}],
    "smrl": [{"bonus": "local"}],
    **{name: [{"share": "steps"}] for name in ("lsvi-phe", "lsvi-ucb", "opt-rlsvi", "rlsvi")},
}

COLUMNS = {
    "instance": "name of the instance in the study",
    "role": "point: a measurement; exponent: the power by which the points of a setting grow",
    "varied": "what grows: d, by the family's size, or H; the other is the instance's",
    "algorithm": "name of the algorithm",
    "setting": "its parameters other than the defaults, as name=value; empty if there are none",
    "d": "dimension of theta; empty for an exponent in d",
    "H": "steps per episode; empty for an exponent in H",
    "plans": "backward inductions per episode and seed; empty for an exponent",
    "seconds": "seconds of processor time per episode and seed of estimating, planning and acting, the median over the "
    "last half of the episodes; empty for an exponent",
    "exponent": "slope of log seconds against log d, or log H; empty for a point, and with less than two values",
}


def study(name, instance, root_seed, sizes: list, horizons: list, episodes: int, seeds: int) -> list[dict]:
    """A point for each problem and each setting that is not refused there, then the exponents of each setting."""
    points = [
        {"varied": varied, **point}
        for varied, problem in _problems(name, instance, sizes, horizons)
        for point in _points(name, problem, root_seed, episodes, seeds)
    ]
    return [{"instance": name, **row} for row in [*points, *_exponents(points)]]


def _problems(name, instance, sizes, horizons):
    """(what is varied, instance) of each size, then of each horizon."""
    family = instance.family_name
    if family not in SIZE:
        raise Refused(
            f"library study 'scaling': instance '{name}' is of family '{family}', which has no size: "
            f"choose one of family {', '.join(SIZE)}"
        )
    changes = [("d", {SIZE[family]: size}) for size in sizes] + [("H", {"horizon": horizon}) for horizon in horizons]
    return [(varied, instances.build(family, instance.parameters | change)) for varied, change in changes]


def _points(name, problem, root_seed, episodes, seeds):
    """All settings on one problem."""
    points = []
    for algorithm, values in _settings(problem.model):
        parameters = agents.parameters(algorithm, values)
        log = loop.run(problem, algorithm, parameters, "U", episodes, range(seeds), root_seed, name)
        late = slice(episodes // 2, None)
        point = {
            "role": "point",
            "algorithm": algorithm,
            "setting": " ".join(f"{key}={value}" for key, value in values.items()),
            "d": problem.model.d,
            "H": problem.horizon,
            "plans": float(np.median(log["plans"][late])),
            "seconds": float(np.median(sum(log[key] for key in SECONDS)[late])),
            "exponent": None,
        }
        points.append(point)
    return points


def _settings(model):
    """(algorithm, values of its parameters) of all that can run on a model."""
    found = [(name, values) for name in agents.catalogue.names() for values in [{}, *VARIANTS.get(name, [])]]
    return [setting for setting in found if _applies(model, *setting)]


def _applies(model, algorithm, values):
    try:
        agents.specification(model, algorithm, agents.parameters(algorithm, values))
    except Refused:
        return False
    return True


def _exponents(points):
    """One row for each setting and what is varied."""
    groups = {}
    for point in points:
        groups.setdefault((point["algorithm"], point["setting"], point["varied"]), []).append(point)
    return [
        group[0] | {"role": "exponent", varied: None, "plans": None, "seconds": None, "exponent": _power(group, varied)}
        for (_, _, varied), group in groups.items()
    ]


def _power(points, varied):
    """The power of d, or of H, by which seconds grow; None if it takes one value only."""
    x, y = (np.log([point[key] for point in points]) for key in (varied, "seconds"))
    return float(np.polyfit(x, y, 1)[0]) if len(set(x)) > 1 else None
