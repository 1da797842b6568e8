"""Check your own agent, instance, reward law, estimator or planner against the contract of its kind."""

from befrl.cli.words import pairs
from befrl.common.errors import ContractError

EXAMPLE = "befrl check my_agent.py"


def arguments(parser):
    parser.add_argument("file", help="Python file with the component, or a folder with several")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the agent or the instance")


def call(args):
    from befrl import plugins
    from befrl.experiment import checking

    broken = []
    for kind, name in plugins.load(args.file):
        outcomes = checking.check(kind, name, pairs(args.set))
        print(f"{name} ({kind}): {len(outcomes)} checks")
        found = _sentences(outcomes)
        broken += found
        for sentence in found or ["  all hold"]:
            print(sentence)
    if broken:
        count = "1 property" if len(broken) == 1 else f"{len(broken)} properties"
        raise ContractError(f"{args.file} breaks {count} of the contract")


def _sentences(outcomes):
    """One line for each property that is broken: the first case, and how many others there are."""
    found = {}
    for outcome in outcomes:
        if outcome.sentence:
            found.setdefault(outcome.check, []).append(outcome)
    return [
        f"  {check}: {first.sentence} [{first.case}{f', and {len(others)} more cases' if others else ''}]"
        for check, (first, *others) in found.items()
    ]
