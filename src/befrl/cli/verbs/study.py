"""Run the study of a config file with Snakemake in the current folder, or resume it."""

EXAMPLE = "befrl study my.yaml --cores 2"


def arguments(parser):
    from argparse import REMAINDER

    parser.add_argument("config", help="YAML file with the study; config/README.md describes its keys")
    text = "files to make instead of all, and options of Snakemake, such as --cores 2 (default all) and --dry-run"
    parser.add_argument("options", nargs=REMAINDER, help=text)


def call(args):
    from importlib.util import find_spec
    from pathlib import Path

    if find_spec("snakemake") is None:  # which the runner starts, and does not import
        raise ModuleNotFoundError(name="snakemake")
    from befrl.study import runner
    from befrl.study.home import home

    # Files come before the config, after which Snakemake reads all words as configs.
    words = ["--snakefile", str(home() / "Snakefile"), *args.options, "--configfile", args.config]
    runner.main(Path(args.config).stem, *words)
