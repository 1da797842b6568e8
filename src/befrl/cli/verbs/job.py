"""Do one job of a study, as the rules of the workflow do."""

from befrl.cli.words import processes
from befrl.common.errors import InputError

EXAMPLE = "befrl job run --study results/study.json --instance chain-8 --track U --agent bef-rlsvi --batch 1000-1199"
NAMES = ("instance", "track", "agent", "batch", "component", "source", "section", "figure")


def arguments(parser):
    parser.add_argument("kind", help="a job of `befrl list jobs`")
    parser.add_argument("--study", required=True, metavar="FILE", help="the study.json that the workflow has written")
    for name in NAMES:
        parser.add_argument(f"--{name}", help=f"the {name} of the job, if its kind has one")
    parser.add_argument("--threads", type=processes, help="processes of tune and run (default 1)")
    parser.add_argument("--version", metavar="HASH", help="fail unless code and study have the version of the rule")


def call(args):
    import inspect
    from contextlib import nullcontext

    from befrl import jobs, plugins
    from befrl.study.study import Study

    job = jobs.registry.module(args.kind)
    _, *parameters = inspect.signature(job.make).parameters.values()
    given = {name: getattr(args, name) for name in (*NAMES, "threads") if getattr(args, name) is not None}
    required = {each.name for each in parameters if each.default is each.empty}
    if not required <= set(given) <= {each.name for each in parameters}:
        wanted = ", ".join(f"--{name}" for name in ("study", *NAMES) if name in {"study", *required})
        raise InputError(f"befrl job {args.kind} takes {wanted}, and no other name")
    study = Study.read(args.study)
    for source in study.plugins:
        plugins.load(source)
    # Names that the study does not have are reported before the work starts.
    names = {name: given[name] for name in required}
    job.settings(study, **names)
    with jobs.guarded(args.version, args.kind, study, **names) if args.version else nullcontext():
        job.make(study, **given)
