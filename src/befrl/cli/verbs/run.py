"""Run an agent on an instance, many seeds in lock step."""

import json
import sys
from contextlib import contextmanager

from befrl.cli.words import episodes, natural, pairs, provenance, show, target, whole
from befrl.common.errors import InputError

EXAMPLE = "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30"


def arguments(parser):
    parser.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    parser.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    parser.add_argument("--track", default="U", help="U: reward unknown (default); K: true mean reward given")
    parser.add_argument("--episodes", type=episodes, default=1000, help="episodes K (default 1000)")
    parser.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")
    parser.add_argument("--root-seed", type=natural, default=20221005, help="root of all random streams")
    parser.add_argument("--lockstep", type=whole, default=50, help="seeds per group in lock step (default 50)")
    parser.add_argument("--threads", type=whole, default=1, help="processes (default 1); results do not depend on it")
    parser.add_argument("--label", help="name of the variant in the study (default: the agent's name)")
    parser.add_argument("--out", help="npz file to write")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    from befrl import agents, instances
    from befrl.experiment import run_file, runs

    out, spec = target(args.out), read_spec(args)
    with progress(args, spec.steps) as tick:
        log, seconds = runs.run_seeds(spec, args.lockstep, args.threads, tick)
    meta = runs.describe(spec, seconds)
    if out:
        modules = instances.modules(spec.instance.family_name, spec.instance.parameters)
        modules += agents.modules(spec.algorithm, spec.parameters)
        run_file.save(out, log, meta | provenance("befrl.experiment.runs", *modules))
    report(args, log["regret"].sum(1), meta)


def read_spec(args):
    """The run that the arguments describe."""
    from befrl import agents, instances
    from befrl.experiment import seeds
    from befrl.experiment.spec import TRACKS, RunSpec

    if args.track not in TRACKS:
        raise InputError(f"--track {args.track} is not allowed: choose one of {', '.join(TRACKS)}")
    chosen = seeds.parse(args.seeds)
    parameters = agents.parameters(args.agent, pairs(args.set))
    if args.instance.endswith(".npz"):
        if args.instance_set:
            raise InputError("--instance-set goes with a family, not with an instance file")
        name, instance = instances.load(args.instance)
    else:
        name, instance = args.instance, instances.build(args.instance, pairs(args.instance_set))
    return RunSpec(
        instance, name, args.agent, parameters, args.episodes, chosen, args.track, args.root_seed, args.label or ""
    )


@contextmanager
def progress(args, total):
    """A progress bar that counts steps; none if the output is quiet, JSON or not a terminal."""
    if args.quiet or args.json or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="step", unit_scale=True, leave=False) as counter:
        yield counter.update


def report(args, final, meta):
    """Print the mean over seeds of the final regret, with its interval, and quantiles."""
    import numpy as np

    from befrl.analysis import intervals

    low, high = intervals.mean_interval(final, 0.95, least=0.0)
    interval = f"[{low:.6g}, {high:.6g}] (95 %)" if len(final) > 1 else "(one seed: no interval)"
    quantiles = {f"{q:g}": float(np.quantile(final, q)) for q in (0.1, 0.5, 0.9)}
    if args.json:
        summary = {
            **{key: meta[key] for key in ("instance", "instance_parameters", "track", "algorithm", "parameters")},
            "derived": meta["facts"],
            "episodes": meta["episodes"],
            "seeds": meta["seeds"],
            "V_star": meta["optimal_value"],
            "final_regret": final.tolist(),
            "mean": float(final.mean()),
            "interval": [float(low), float(high)] if len(final) > 1 else None,
            "level": 0.95,
            "quantiles": quantiles,
            "seconds": meta["seconds"],
            "steps_per_second": meta["steps_per_second"],
        }
        print(json.dumps(summary, indent=2))
    elif not args.quiet:
        show(
            [
                ("instance", f"{meta['instance']}, track {meta['track']}, V* = {meta['optimal_value']:.6g}"),
                ("agent", f"{meta['label']} {meta['facts'] or ''}".strip()),
                ("episodes x seeds", f"{meta['episodes']} x {len(meta['seeds'])}"),
                ("mean regret", f"{final.mean():.6g}  {interval}"),
                ("10, 50, 90 %", "  ".join(f"{value:.6g}" for value in quantiles.values())),
                ("seconds", meta["seconds"]),
                ("steps per second", f"{meta['steps_per_second']:,.0f}"),
            ]
        )
