"""Check a user's component against the contract of its kind.

An agent plays in both tracks on INSTANCES, with its defaults and with both ends of every number and every choice.
Estimators and planners are checked as parts of `greedy`, reward laws as the reward of `chain`.
"""

from dataclasses import dataclass

from befrl import agents, instances, plugins
from befrl.common.defaults import TRACKS
from befrl.common.errors import ContractError, InputError, Refused
from befrl.experiment import agent_contract, instance_contract
from befrl.experiment.agent_contract import Case

# Bins of an interval, finitely many states, smooth features on a circle, and states in all of R.
INSTANCES = {
    "chain": {"bins": 3, "horizon": 6},
    "riverswim": {"states": 3, "horizon": 6},
    "circle": {"knots": 4, "kappa": 4.0, "horizon": 6},
    "lds": {"horizon": 4},
}


@dataclass(frozen=True)
class Outcome:
    """One property in one case; `sentence` says how it is violated, and is empty if it holds."""

    check: str
    case: str
    sentence: str


def check(kind: str, name: str, values: dict):
    """The outcomes of all checks of a component; `values` are parameters of an instance or an agent."""
    if kind == "agent":
        outcomes = list(_agent(name, values))
    elif kind in agents.PARTS:
        outcomes = list(_agent("greedy", {kind: name}, whole=False))
    elif kind == "instance":
        outcomes = list(_instance(name, values))
    else:
        outcomes = list(_instance("chain", {"reward": name, "bins": 3, "horizon": 6}))
    if not outcomes:
        raise InputError(f"{kind} '{name}' refuses {', '.join(INSTANCES)}: there is no instance to check it on")
    return outcomes


def _agent(algorithm, values, whole=True):
    """All properties with the values given and, if `whole`, the first property with each further setting."""
    agents.parameters(algorithm, values)
    first, *rest = agent_contract.PROPERTIES
    for name, of_instance in INSTANCES.items():
        problem = instances.build(name, of_instance)
        for track in TRACKS:
            case, where = Case(algorithm, problem, track, values), f"{name}, track {track}"
            if _refused(case):
                continue
            outcome = _outcome(first, where, case)
            yield outcome
            if outcome.sentence:
                continue  # where plans are wrong, the rest says nothing new
            yield from (_outcome(one, where, case) for one in rest)
            for setting in agent_contract.settings(algorithm) if whole else ():
                case = Case(algorithm, problem, track, values | setting)
                if setting and not _refused(case):
                    ((key, value),) = setting.items()
                    yield _outcome(first, f"{where}, {key} = {value}", case)


def _refused(case):
    """Whether an agent refuses the instance, or its parameters exclude each other."""
    try:
        agents.specification(case.instance.model, case.algorithm, agents.parameters(case.algorithm, case.values))
    except InputError as error:
        if isinstance(error, Refused) or case.values:
            return True
        raise
    return False


def _instance(family, values):
    instances.check(family, values, f"instance '{family}'")
    made = []

    def build(*parts):
        made.append(instance_contract.built(*parts))

    yield _outcome(build, "the parameters given", family, values)
    for one in instance_contract.PROPERTIES if made else []:
        yield _outcome(one, "the true model", *made)


def _outcome(function, where, *subject):
    sentence = ""
    try:
        function(*subject)
    except (ContractError, InputError) as error:
        sentence = str(error)
    except Exception as error:
        sentence = plugins.blame(error) or f"{type(error).__name__}: {error}"
    return Outcome(function.__name__.replace("_", " "), where, sentence)
