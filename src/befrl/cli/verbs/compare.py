"""Compare agents on an instance: mean regret, intervals, failures and paired differences."""

import json

from befrl.cli.words import add_run_arguments, add_seeds, print_json, read_agents, read_instance

EXAMPLE = "befrl compare chain --set bins=8 --agents bef-rlsvi:x=10 exp-psrl --seeds 30 --plot regret.png"


def arguments(parser):
    parser.add_argument("instance", help="a family, a preset, or an npz file made by `befrl instance`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument(
        "--agents",
        nargs="+",
        required=True,
        metavar="AGENT[:NAME=VALUE,...]",
        help="algorithms of `befrl list agents` with their parameters, or AGENT@tuned for those that a study has tuned "
        "on the same instance; greedy, random and oracle run too",
    )
    add_seeds(parser)
    add_run_arguments(parser)
    parser.add_argument("--results", metavar="FOLDER", help="results of the study for @tuned (default: befrl's own)")
    parser.add_argument("--form", default="text", help="how the table is printed: text, markdown or latex")
    parser.add_argument("--plot", metavar="FILE", help="png, svg or pdf file to draw")
    parser.add_argument("--out", metavar="FOLDER", help="new folder for the run files, which befrl.read reads")


def call(args):
    from befrl.api.comparison import check_folder, compare
    from befrl.api.drawing import check_path
    from befrl.api.printing import check_form

    agents = read_agents(args.agents)
    check_form(args.form)
    if args.plot:
        check_path(args.plot)
    if args.out:
        check_folder(args.out)
    options = {key: getattr(args, key) for key in ("episodes", "seeds", "track", "ties", "root_seed", "cores")}
    _, instance = read_instance(args.instance, args.set, "--set")
    compared = compare(instance, agents, show=not args.json, results=args.results, **options)
    if args.plot:
        compared.plot(args.plot)
    if args.out:
        compared.save(args.out)
    if args.json:
        print_json(agents=json.loads(compared.table().to_json(orient="records")))
    elif args.form == "text":
        print(f"{compared}, 95 % intervals\n{compared.text()}")
    else:
        print(compared.text(args.form))
