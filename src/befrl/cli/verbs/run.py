"""Run an agent on an instance, many seeds and settings in lock step."""

import json

from befrl.cli.playing import add_run_arguments, progress_of, read_instance
from befrl.cli.words import pairs, provenance, show, target
from befrl.common.errors import InputError

LEVEL = 0.95
EXAMPLE = "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30"


def arguments(parser):
    add_run_arguments(parser)
    parser.add_argument("--seeds", default="30", help="how many (30) or which (30-59); default 30")
    parser.add_argument("--tuned", help="JSON file made by `befrl tune`: its tuned, median and worst settings run too")
    parser.add_argument("--sweep", nargs="*", metavar="NAME=[VALUES]", help="one parameter and values that run too")
    parser.add_argument("--label", help="name of the agent in the study (default: the algorithm's name)")
    parser.add_argument("--out", help="npz file to write")


def call(args):
    from befrl import agents, instances
    from befrl.experiment import run_file, runs

    out, (labels, spec) = target(args.out), read_spec(args)
    with progress_of(args, spec.steps) as tick:
        log, seconds = runs.run_rows(spec, args.lockstep, args.threads, tick)
    meta = runs.describe(spec, labels, seconds)
    if out:
        modules = instances.modules(spec.instance.family_name, spec.instance.parameters)
        modules += agents.modules(spec.algorithm, spec.settings[0])
        run_file.save(out, log, meta | provenance("befrl.experiment.runs", *modules))
    report(args, log["regret"].sum(2), meta)


def read_spec(args):
    """The labels of the settings, and the run that the arguments describe."""
    from befrl.experiment import seeds, settings, tuning
    from befrl.experiment.spec import RunSpec

    chosen = seeds.parse(args.seeds)
    outcome = tuning.read(args.tuned) if args.tuned else None
    if outcome and outcome["algorithm"] != args.agent:
        raise InputError(f"--tuned {args.tuned}: it is the tuning of '{outcome['algorithm']}', not of '{args.agent}'")
    sweep = pairs(args.sweep)
    if not all(isinstance(points, list) and points and all(map(is_number, points)) for points in sweep.values()):
        raise InputError("--sweep: write NAME=[VALUE,VALUE,...], with numbers")
    variants = settings.variants(args.label or args.agent, pairs(args.set), outcome, sweep)
    several = list(variants.values())
    options = {"track": args.track, "root_seed": args.root_seed, "ties": args.ties}
    RunSpec.of(None, "", args.agent, several, args.episodes, chosen, **options)
    name, instance = read_instance(args)
    return list(variants), RunSpec.of(instance, name, args.agent, several, args.episodes, chosen, **options)


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def report(args, finals, meta):
    """Print for every setting the mean over seeds of the final regret, with its interval, and its quantiles."""
    import numpy as np

    from befrl.analysis.intervals import mean_interval

    variants = []
    for i, label in enumerate(meta["labels"]):
        low, high = mean_interval(finals[i], LEVEL, least=0.0)
        known = len(finals[i]) > 1
        variants.append(
            {
                "label": label,
                "parameters": meta["settings"][i],
                "derived": meta["facts"][i],
                "final_regret": finals[i].tolist(),
                "mean": float(finals[i].mean()),
                "interval": [float(low), float(high)] if known else None,
                "quantiles": {f"{q:g}": float(np.quantile(finals[i], q)) for q in (0.1, 0.5, 0.9)},
            }
        )
    if args.json:
        names = ("instance", "instance_parameters", "track", "ties", "algorithm", "episodes", "seeds")
        print(
            json.dumps(
                {
                    **{key: meta[key] for key in names},
                    "V_star": meta["optimal_value"],
                    "level": LEVEL,
                    "variants": variants,
                    "seconds": meta["seconds"],
                    "steps_per_second": meta["steps_per_second"],
                },
                indent=2,
            )
        )
    elif not args.quiet:
        rows = [
            ("instance", f"{meta['instance']}, track {meta['track']}, V* = {meta['optimal_value']:.6g}"),
            ("episodes x seeds", f"{meta['episodes']} x {len(meta['seeds'])}"),
        ]
        for each in variants:
            words = "one seed: no interval"
            if each["interval"]:
                words = f"[{each['interval'][0]:.6g}, {each['interval'][1]:.6g}], {LEVEL:.0%} interval"
            rows += [
                ("agent", f"{each['label']} {each['derived'] or ''}".strip()),
                ("mean regret", f"{each['mean']:.6g}  ({words})"),
                ("10, 50, 90 %", "  ".join(f"{value:.6g}" for value in each["quantiles"].values())),
            ]
        speed = f"{meta['steps_per_second']:,.0f}"
        show([*rows, ("seconds", meta["seconds"]), ("steps per second", speed)])
