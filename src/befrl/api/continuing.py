"""More seeds and episodes for runs, runs merged into one, and runs played again; contradictions raise `InputError`."""

import numpy as np
from threadpoolctl import threadpool_limits

from befrl import instances
from befrl.analysis import aggregation
from befrl.api.playing import made_by
from befrl.api.runs import Runs
from befrl.api.validation import AnySeeds, read_seeds, read_whole
from befrl.common.defaults import MOST_EPISODES
from befrl.common.errors import InputError
from befrl.common.progress import progress
from befrl.experiment import loop, run_file
from befrl.experiment import runs as experiment
from befrl.experiment.recording import Recording
from befrl.experiment.spec import RunSpec
from befrl.experiment.tuning import EVALUATION


def extend(runs: Runs, seeds: AnySeeds | None, episodes: int | None, cores: int, lockstep: int, show: bool) -> Runs:
    """The runs with the seeds and episodes that they lack."""
    own, K = set(runs.seeds), runs.meta["episodes"]
    wanted = own if seeds is None else own | set(read_seeds(seeds))
    if min(own) >= EVALUATION > min(wanted):
        raise InputError(f"seeds: tuning may have used those below {EVALUATION}, and these runs have none of them")
    longer = K if episodes is None else read_whole("episodes", episodes, K, MOST_EPISODES)
    if wanted == own and longer == K:
        return runs
    _check_end(runs)
    played = sorted(wanted) if longer > K else [runs.seeds[0], *sorted(wanted - own)]
    width, processes = read_whole("lockstep", lockstep), read_whole("cores", cores)
    with threadpool_limits(limits=1):  # more threads change the last bits
        spec, meta = _again(runs, tuple(played), longer)
        meta |= made_by(spec)
        with progress(spec.steps, show) as tick:
            ((log, seconds),) = experiment.run_all([spec], width, processes, tick)
    speed = {"seconds": seconds, "steps_per_second": spec.steps / seconds}
    more = Runs(run_file.rounded(log), meta | speed, spec.instance)
    _check_bits(runs, more, _why(runs, longer))
    return more if longer > K else _joined(runs, more)


def merge(parts: list[Runs]) -> Runs:
    """Runs of the same agent, setting and case as one, each seed once."""
    if not all(isinstance(each, Runs) for each in parts):
        raise InputError("runs is not allowed: merge takes Runs, such as befrl.run makes")
    whole = parts[0]
    for part in parts[1:]:
        for each in (whole, part):
            _check_end(each)
        aggregation.check_case(part.meta, whole.meta)
        aggregation.check_agent(part.meta, whole.meta)
        if len({each.meta["code"] for each in (whole, part) if "code" in each.meta}) > 1:
            raise InputError(f"runs of '{part.label}' were made by different code: play them again")
        _check_bits(whole, part, "one of them was made by other code, or on another processor")
        whole = _joined(whole, part)
    return whole


def _check_end(runs: Runs) -> None:
    """Raise for runs with `until_certified`, whose end depends on their seeds."""
    if "until_certified" in runs.meta:
        why = "ended when all their seeds were certified, and might have ended later with others"
        raise InputError(f"runs of '{runs.label}' {why}: play them anew with befrl.run")


def _joined(first: Runs, second: Runs) -> Runs:
    """Two runs as one, with the seeds in ascending order; what only one of them says about its making is left out."""
    new = [i for i, seed in enumerate(second.seeds) if seed not in set(first.seeds)]
    if not new:
        return first
    seeds = [*first.seeds, *(second.seeds[i] for i in new)]
    order, weights = np.argsort(seeds), (len(first), len(new))
    log = {}
    for key, values in first.log.items():
        if key in run_file.COST:
            log[key] = np.average([values, second.log[key]], axis=0, weights=weights).astype(values.dtype)
        else:
            log[key] = np.concatenate([values, second.log[key][:, new]], axis=1)[:, order]
    seconds = first.seconds + second.seconds
    meta = {key: value for key, value in first.meta.items() if key in run_file.META or second.meta.get(key) == value}
    steps = len(seeds) * meta["episodes"] * meta["horizon"]
    meta |= {"seeds": sorted(seeds), "seconds": seconds, "steps_per_second": steps / seconds}
    return Runs(log, meta, first.mdp or second.mdp)


def trajectories(runs: Runs) -> dict[str, np.ndarray]:
    """The arrays of `Recording` of runs that are played again."""
    with threadpool_limits(limits=1):
        spec, meta = _again(runs, tuple(runs.seeds), runs.meta["episodes"])
        recording = Recording(spec)
        log = run_file.rounded(loop.run(spec, environment=recording))
    again = Runs({key: log[key][None] for key in run_file.LOGGED}, meta)
    _check_bits(runs, again, _why(runs, runs.meta["episodes"]))
    return recording.arrays()


def _again(runs: Runs, seeds: tuple[int, ...], episodes: int) -> tuple[RunSpec, dict]:
    """The specification and the metadata of runs of the same agent in the same setting and case."""
    meta = runs.meta
    try:
        mdp = runs.mdp or instances.build(meta["family"], meta["instance_parameters"]).known_as(name=meta["instance"])
        options = {key: meta[key] for key in ("track", "root_seed", "ties")}
        settings = meta["settings"][0]
        if about := meta.get("until_certified"):
            options["until_certified"], episodes = about["within"], about["planned_episodes"]
            if "first_episodes" not in about:
                raise InputError("they ended when other seeds were certified, too, which were left out")
        spec = RunSpec.of(mdp, meta["instance"], meta["algorithm"], settings, episodes, seeds, **options)
        about = experiment.describe(spec, meta["labels"], 1.0)
        aggregation.check_case(about | {"episodes": meta["episodes"]}, meta)
    except InputError as error:
        raise InputError(f"runs of '{runs.label}' cannot be played again here: {error}") from None
    if about["facts"] != meta["facts"]:
        changed = [key for key, value in about["facts"][0].items() if meta["facts"][0].get(key) != value]
        raise InputError(f"'{runs.label}' would have another {', '.join(changed)}: {_why(runs, episodes)}")
    return spec, about


def _why(runs: Runs, episodes: int) -> str:
    """The reason for a difference between runs and the same played again with a number of episodes."""
    if episodes == runs.meta["episodes"]:
        return "the code or the processor is not that of these runs"
    return f"the agent uses the number of episodes, play {episodes} anew with befrl.run"


def _check_bits(runs: Runs, other: Runs, why: str) -> None:
    """Raise unless the seeds that two runs share have the same bits in the episodes that they share."""
    seeds, mine, theirs = np.intersect1d(runs.seeds, other.seeds, return_indices=True)
    K = min(runs.meta["episodes"], other.meta["episodes"])
    for seed, i, j in zip(seeds, mine, theirs, strict=True):
        for key in run_file.LOGGED:
            if runs.log[key][0, i, :K].tobytes() != other.log[key][0, j, :K].tobytes():
                raise InputError(f"seed {seed} of '{runs.label}' has different bits in two runs: {why}")
