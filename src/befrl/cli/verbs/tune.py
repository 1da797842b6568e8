"""Tune an agent on an instance by successive halving over seeds."""

from befrl.cli.playing import add_run_arguments, progress_of, read_instance
from befrl.cli.words import pairs, provenance, show, target, whole

EXAMPLE = (
    "befrl tune --instance chain --agent bef-rlsvi --tune x=[0.01,10000] eta=[0.01,100] --configurations 24 "
    "--seeds 4 12 40 --kept 8 3 --episodes 300 --out tuning.json"
)


def arguments(parser):
    add_run_arguments(parser)
    parser.add_argument(
        "--tune", nargs="+", required=True, metavar="NAME=[LOW,HIGH]", help="ranges, or NAME=VALUE to hold one fixed"
    )
    parser.add_argument("--configurations", type=whole, default=24, help="number of configurations (default 24)")
    parser.add_argument("--seeds", type=whole, nargs="+", default=[4, 12, 40], help="tuning seeds up to each rung")
    parser.add_argument("--kept", type=whole, nargs="*", default=[8, 3], help="configurations kept after each rung")
    parser.add_argument("--out", help="JSON file to write")


def call(args):
    from befrl import agents, instances
    from befrl.common import storage
    from befrl.experiment import tuning
    from befrl.experiment.settings import setting_text
    from befrl.experiment.spec import RunSpec

    out, values, tune = target(args.out), pairs(args.set), pairs(args.tune)
    tuning.check(args.agent, values, tune, "--tune")
    halving = tuning.Halving(args.configurations, tuple(args.seeds), tuple(args.kept))
    name, instance = read_instance(args)
    options = {"track": args.track, "root_seed": args.root_seed, "ties": args.ties}
    spec = RunSpec.of(instance, name, args.agent, values, args.episodes, (0,), **options)
    with progress_of(args, tuning.steps(halving, args.episodes, instance.horizon)) as tick:
        outcome = tuning.halve(spec, values, tune, halving, args.lockstep, args.threads, tick)
    if out:
        modules = instances.modules(instance.family_name, instance.parameters)
        modules += agents.modules(args.agent, spec.settings[0])
        storage.write_json(out, outcome | provenance("befrl.experiment.tuning", *modules))
    if not args.quiet:
        rows = []
        for role, number in outcome["chosen"].items():
            entry = outcome["configurations"][number]
            text = setting_text(args.agent, values | entry["values"])
            rows.append((role, f"{text}: mean regret {entry['mean']:.6g} over {entry['seeds']} seeds"))
        show(rows)
