"""Run an agent on an instance, many seeds and settings in lock step."""

import json

from befrl.cli.words import add_run_arguments, pairs, read_instance, show, target, whole
from befrl.common.defaults import LEVEL, LOCKSTEP
from befrl.common.errors import InputError

EXAMPLE = "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30"


def arguments(parser):
    parser.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    parser.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    parser.add_argument("--sweep", nargs="*", metavar="NAME=[VALUES]", help="one parameter and values that run too")
    add_run_arguments(parser, "--threads")
    parser.add_argument("--lockstep", type=whole, default=LOCKSTEP, help=f"rows in lock step (default {LOCKSTEP})")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    parser.add_argument("--out", help="npz file to write")


def call(args):
    from befrl import agents, instances
    from befrl.analysis.run_summary import summary
    from befrl.common.progress import progress
    from befrl.experiment import run_file, runs
    from befrl.study.provenance import made_by

    out, (labels, spec) = target(args.out), read_spec(args)
    with progress(spec.steps, not (args.quiet or args.json)) as tick:
        log, seconds = runs.run_rows(spec, args.lockstep, args.threads, tick)
    meta = runs.describe(spec, labels, seconds)
    if out:
        modules = instances.modules(spec.instance.family_name, spec.instance.parameters)
        modules += agents.modules(spec.algorithm, spec.settings[0])
        run_file.save(out, log, meta | made_by("befrl.experiment.runs", *modules))
    found = summary(log["regret"].sum(2), meta, LEVEL)
    if args.json:
        print(json.dumps(found, indent=2))
    elif not args.quiet:
        show(lines(found))


def read_spec(args):
    """The labels of the settings, and the run that the arguments describe."""
    from befrl.experiment import seeds, settings
    from befrl.experiment.spec import RunSpec

    chosen, sweep = seeds.parse(args.seeds), pairs(args.sweep)
    if not all(
        isinstance(points, list) and points and all(type(each) in (int, float) for each in points)
        for points in sweep.values()
    ):
        raise InputError("--sweep: write NAME=[VALUE,VALUE,...], with numbers")
    variants = settings.variants(args.agent, pairs(args.set), None, sweep)
    several = list(variants.values())
    options = {"track": args.track, "root_seed": args.root_seed, "ties": args.ties}
    # Everything else is checked before the instance is built, which takes longer.
    RunSpec.of(None, "", args.agent, several, args.episodes, chosen, **options)
    name, instance = read_instance(args.instance, args.instance_set, "--instance-set")
    return list(variants), RunSpec.of(instance, name, args.agent, several, args.episodes, chosen, **options)


def lines(found) -> list[tuple]:
    """The summary as name-value pairs, for printing."""
    rows = [
        ("instance", f"{found['instance']}, track {found['track']}, V* = {found['V_star']:.6g}"),
        ("episodes x seeds", f"{found['episodes']} x {len(found['seeds'])}"),
    ]
    for each in found["variants"]:
        words = "one seed: no interval"
        if each["interval"]:
            words = f"[{each['interval'][0]:.6g}, {each['interval'][1]:.6g}], {LEVEL:.0%} interval"
        rows += [
            ("agent", f"{each['label']} {each['derived'] or ''}".strip()),
            ("mean regret", f"{each['mean']:.6g}  ({words})"),
            ("10, 50, 90 %", "  ".join(f"{value:.6g}" for value in each["quantiles"].values())),
        ]
    speed = f"{found['steps_per_second']:,.0f}"
    return [*rows, ("seconds", found["seconds"]), ("steps per second", speed)]
