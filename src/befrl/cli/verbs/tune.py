"""Tune an agent on an instance by the procedure of the study."""

from befrl.cli.words import add_run_arguments, pairs, print_json, read_agents, read_instance, show

EXAMPLE = "befrl tune chain --set bins=5 --agent bef-rlsvi --ranges x=[0.01,100] eta=[0.01,100] --episodes 200"


def arguments(parser):
    parser.add_argument("instance", help="a family, a preset, or an npz file made by `befrl instance`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    text = "an algorithm of `befrl list agents`, with parameters that stay fixed"
    parser.add_argument("--agent", required=True, metavar="AGENT[:NAME=VALUE,...]", help=text)
    parser.add_argument(
        "--ranges", nargs="+", required=True, metavar="NAME=[LOW,HIGH]", help="parameters to tune with their ranges"
    )
    text = "other numbers than the study's: configurations=24 refined=12 seeds=[10,50,150] kept=[8,3] (docs/tuning.md)"
    parser.add_argument("--procedure", nargs="*", metavar="NAME=VALUE", help=text)
    add_run_arguments(parser)


def call(args):
    from befrl import agents
    from befrl.api.tuned import tune

    options = {key: getattr(args, key) for key in ("episodes", "track", "ties", "root_seed", "cores")}
    options |= {"procedure": pairs(args.procedure, "--procedure"), "show": not args.json}
    ((name, values),) = read_agents([args.agent]).values()
    agents.parameters(name, values)
    _, instance = read_instance(args.instance, args.set, "--set")
    found = tune(instance, name, pairs(args.ranges, "--ranges"), **options, **values)
    if args.json:
        about = {"agent": found.label, "values": found.values, "at_edge": found.at_edge}
        print_json(**about, configurations=found.table.to_dict("records"))
        return
    best = found.table[found.table["chosen"] == "tuned"].iloc[0]
    settings = ",".join(f"{key}={value}" for key, value in found.values.items())
    lines = [("tuned", settings.replace(",", " ")), ("mean regret", f"{best['mean']:.6g} on {best['seeds']} seeds")]
    lines += [("at an end", f"{found.at_edge}: a wider range may be better")] if found.at_edge else []
    show([*lines, ("compare with", f"--agents {found.label}:{settings} --seeds 1000-1029")])
