"""MDPs that lie exactly in the bilinear exponential family, one file each.

A family's module has a `Parameters` dataclass and `build(parameters) -> Instance`; constants, V*, sampling and planning
follow from these. A file in this folder needs no registration: `riverswim` in a config or on the command line means
`befrl/instances/riverswim.py`.
"""

from contextlib import contextmanager
from dataclasses import asdict, replace

import numpy as np

from befrl.common import instance_facts, storage
from befrl.common.errors import InputError, unknown
from befrl.common.parameters import read
from befrl.common.registry import Registry
from befrl.model import constants, rewards
from befrl.model.instance import Instance

# Published settings by name: a family and its parameters (Cho et al., Ayoub et al., Tiapkin et al., Lee and Oh,
# Osband). The kernel and the rewards of Lee and Oh are not known: theirs are the numbers of states and steps.
PRESETS = {
    "riverswim-osband-6": ("riverswim", {"kernel": "osband", "states": 6, "horizon": 20}),
    "riverswim-cho-4": ("riverswim", {"kernel": "cho", "states": 4, "horizon": 12}),
    "riverswim-cho-8": ("riverswim", {"kernel": "cho", "states": 8, "horizon": 24}),
    **{f"riverswim-ayoub-{S}": ("riverswim", {"kernel": "ayoub", "states": S, "horizon": 4 * S}) for S in (3, 4, 5)},
    **{
        f"riverswim-lee-{S}": ("riverswim", {"kernel": "osband", "states": S, "horizon": 4 * S, "reward_sd": 0.1})
        for S in (30, 40)
    },
    "grid-tiapkin-10": ("grid", {"size": 10, "horizon": 50, "reward_sd": 0.1}),
}
PRESETS |= {  # with the reward that the optimal values in the text of Ayoub et al. imply; their code has another
    f"{name}-text": (family, values | {"small": 0.05}) for name, (family, values) in PRESETS.items() if "ayoub" in name
}

ROUNDING = 1e-10  # largest relative difference of theta* between processors; measured are 3e-16
registry = Registry("instance", __name__, __path__, parts=("build", "Parameters"), reserved=PRESETS)


def resolve(name: str, values: dict) -> tuple[str, dict]:
    """The family and the parameters that a name denotes; the user's values override those of a preset."""
    if name in PRESETS:
        family, preset = PRESETS[name]
        return family, preset | values
    if name not in registry.names():
        raise unknown("instance", name, [*registry.names(), *PRESETS])
    return name, values


def check(name: str, values: dict, where: str):
    """The checked parameters of an instance, without building it."""
    family, values = resolve(name, values)
    return read(registry.module(family).Parameters, values, where)


def module_name(name: str) -> str:
    """The module of a family or preset."""
    return registry.module_name(resolve(name, {})[0])


def modules(name: str, values: dict) -> list[str]:
    """The modules that an instance is built from: its family and, if the reward law is a parameter, that law."""
    family, values = resolve(name, values)
    chosen = values.get("reward", getattr(registry.module(family).Parameters, "reward", None))
    return [registry.module_name(family), *([rewards.registry.module_name(chosen)] if chosen else [])]


def build(family: str, values: dict, where: str | None = None):
    """Build the instance of a family or preset with the user's parameters, and compute its constants."""
    where = where or f"instance '{family}'"
    return with_constants(_without_constants(*resolve(family, values), where).known_as(name=family), where)


def with_constants(instance, where: str):
    """The instance with its constants computed; `where` names it if they cannot be."""
    rng = np.random.default_rng(0)  # a fixed seed for the search: constants are the same everywhere
    with _naming(where):
        found = constants.compute(instance.model, instance.theta_p, instance.theta_r, rng)
    return instance.known_as(constants=found)


def rebuild(family: str, values: dict, known_constants: dict):
    """Rebuild an instance whose constants are known."""
    return _without_constants(family, values, f"instance '{family}'").known_as(constants=known_constants)


@contextmanager
def _naming(where):
    """Put the name of an instance, which the code of its family does not know, in front of error messages."""
    try:
        yield
    except InputError as error:
        said = str(error).removeprefix(f"instance '{Instance.family_name}': ")
        raise type(error)(said if said.startswith(where) else f"{where}: {said}") from error


def _without_constants(family, values, where):
    module = registry.module(family)
    parameters = read(module.Parameters, values, where)
    with _naming(where):
        instance = module.build(parameters)
        if not isinstance(instance, Instance):
            raise InputError(f"build(parameters) returns {type(instance).__name__}, it must return an Instance")
    return instance.known_as(family_name=family, name=family, parameters=asdict(parameters))


def facts(name, instance) -> dict:
    """A summary of an instance as plain numbers."""
    about = {"name": name, "family": instance.family_name, "parameters": instance.parameters}
    sizes = {key: getattr(instance.model, key) for key in ("d", "n_cells", "n_anchors", "n_actions")}
    values = {key: getattr(instance, key) for key in ("optimal_value", "uniform_value", "gap", "cell_loss")}
    return {**about, "horizon": instance.horizon, **sizes, **values, "constants": instance.constants}


def save(path, name, instance, provenance: dict):
    """Write an instance: its arrays, and the parameters from which its model can be rebuilt."""
    Q, V = instance.optimum
    arrays = {key: getattr(instance, key) for key in ("theta_p", "theta_r", "P", "R")} | {"V_star": V, "Q_star": Q}
    storage.write_arrays(path, "instance", arrays, {**facts(name, instance), **provenance})


def load(path):
    """Read the name and the instance from a file made by `save`; raise if the present code gives another theta*.

    The stored theta* is used, since processors round differently: a study has the same MDP, to the bit, everywhere.
    """
    arrays, meta = storage.read_arrays(path, "instance")
    instance_facts.check(path, meta)
    try:
        instance = rebuild(meta["family"], meta["parameters"], meta["constants"])
    except InputError as error:
        cure = "make the instance again, or load the plug-in that it comes from"
        raise InputError(f"{path}: {error}: {cure}") from None
    stored = {key: arrays.get(key, np.empty(0)) for key in ("theta_p", "theta_r")}
    for key, theta in stored.items():
        mine = getattr(instance, key)
        if theta.shape != mine.shape or not np.abs(theta - mine).max() <= ROUNDING * np.abs(mine).max():
            raise InputError(
                f"{path}: {key} differs from that of the present family '{meta['family']}': make the instance again"
            )
    if not all(np.array_equal(theta, getattr(instance, key)) for key, theta in stored.items()):
        instance = replace(instance, **stored)
    return meta["name"], instance.known_as(name=meta["name"])
