"""Run an agent on an instance, many seeds and settings in lock step."""

from dataclasses import replace

from befrl.cli.words import add_run_arguments, add_seeds, pairs, print_json, read_instance, show, target, whole
from befrl.common.defaults import LEVEL, LOCKSTEP
from befrl.common.errors import InputError

EXAMPLE = "befrl run --instance chain --agent bef-rlsvi --set x=3 --episodes 1000 --seeds 30"


def arguments(parser):
    parser.add_argument("--instance", required=True, help="a family, or an npz file made by `befrl instance`")
    parser.add_argument("--instance-set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--agent", required=True, help="an algorithm of `befrl list agents`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent")
    parser.add_argument("--sweep", nargs="*", metavar="NAME=[VALUES]", help="one parameter and values that run too")
    add_seeds(parser)
    add_run_arguments(parser)
    parser.add_argument("--lockstep", type=whole, default=LOCKSTEP, help=f"rows in lock step (default {LOCKSTEP})")
    parser.add_argument(
        "--until-certified",
        type=float,
        metavar="EPS",
        help="stop once the agent certifies for every seed that its policy is within EPS of optimal at s_1; "
        "--episodes is the largest number, and the K that the agent's constants use; all seeds run in one process",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    parser.add_argument("--out", help="npz file to write")


def call(args):
    from befrl import agents, instances
    from befrl.analysis.run_summary import summary
    from befrl.common.progress import progress
    from befrl.experiment import certificates, run_file, runs
    from befrl.study.provenance import made_by

    out, (labels, spec) = target(args.out, ".npz"), read_spec(args)
    with progress(spec.steps, not (args.quiet or args.json)) as tick:
        log, seconds = runs.run_rows(spec, args.lockstep, args.cores, tick)
    meta = runs.describe(spec, labels, seconds) | certificates.stopping(spec, log, seconds)
    if out:
        modules = instances.modules(spec.instance.family_name, spec.instance.parameters)
        modules += agents.modules(spec.algorithm, spec.settings[0])
        run_file.save(out, log, meta | made_by("befrl.experiment.runs", *modules))
    found = summary(log, meta, LEVEL)
    if args.json:
        print_json(**found)
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
    options["until_certified"] = args.until_certified
    # Everything else is checked before the instance is built, which takes longer.
    spec = RunSpec.of(None, "", args.agent, several, args.episodes, chosen, **options)
    name, instance = read_instance(args.instance, args.instance_set, "--instance-set")
    return list(variants), replace(spec, instance=instance, name=name)


def lines(found) -> list[tuple]:
    """The summary as name-value pairs, for printing."""
    rows = [
        ("instance", f"{found['instance']}, track {found['track']}, V* = {found['optimal_value']:.6g}"),
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
        if certified := each["certificates"]:
            rows.append(("certificates", sentence(certified, len(found["seeds"]))))
    if "until_certified" in found:
        rows += stopping(found)
    speed = f"{found['steps_per_second']:,.0f}"
    return [*rows, ("seconds", found["seconds"]), ("steps per second", speed)]


def sentence(certified, seeds) -> str:
    """The certificates of a variant in words."""
    sums = f"{certified['certified']:.3g} of HK = {certified['trivial']:.3g} in all"
    words = f"{sums}, broken in {certified['broken_seeds']} of {seeds} seeds"
    return words if certified["delta"] < 1 else f"{words}; these constants promise nothing here"


def stopping(found) -> list[tuple]:
    """When a run with --until-certified stopped, in words."""
    about, delta = found["until_certified"], found["variants"][0]["certificates"]["delta"]
    if not about["reached"]:
        words = (
            f"not within {found['episodes']} episodes; the smallest certificate of all seeds is {about['smallest']:.3g}"
        )
        return [("certified", words)]
    promise = f"with probability {100 * (1 - delta):g} %" if delta < 1 else "without a promised probability"
    words = f"after {found['episodes']} episodes the policy is within {about['within']:g} of optimal, {promise}"
    first = sorted(about["first_episodes"])
    return [("certified", words), ("first by seed", f"after {first[0]} to {first[-1]} episodes")]
