from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


# A config given on the command line stands alone: Snakemake would merge it into the default one, study and all.
if not workflow.overwrite_configfiles:

    configfile: Path(workflow.current_basedir, "config", "config.yaml")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/instances.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/regret.smk"
include: "workflow/rules/components.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        LAYOUT.report(),
        LAYOUT.ledger(),
        LAYOUT.errata(),
        LAYOUT.instances(),
        LAYOUT.table1(),
        LAYOUT.improvement(),
        LAYOUT.columns(),
        LAYOUT.coverage(),
        case_tables(STUDY.cases(), *REGRET_TABLES),
        [
            LAYOUT.figure(ending, name)
            for name in STUDY.figures
            for ending in ("svg", "png")
        ],
    localrule: True
