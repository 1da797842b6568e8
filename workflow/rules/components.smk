# Studies of single components: one rule for each kind of study, one job for each instance.


def component_settings(kind):
    """The settings of a component study on the instance of the wildcards."""

    @checked
    def found(wildcards):
        by_instance = STUDY.component(kind)
        if wildcards.instance not in by_instance:
            raise unknown("instance", wildcards.instance, by_instance)
        return settings(by_instance[wildcards.instance])

    return found


def component_code(kind):
    """Hash of the code of a component study, its instance and the agents, estimators and planners that it uses."""
    study = components.registry.module(kind)

    def found(wildcards):
        instance = instance_entry(wildcards)
        return code_hash(
            "befrl.analysis.components",
            components.registry.module_name(kind),
            *instances.modules(instance["family"], instance["set"]),
            *study.uses(),
        )

    return found


def component_timings(kind):
    """The table of measured seconds, if the study measures time."""
    return (
        [LAYOUT.component_timings(kind)] if "timings" in components.tables(kind) else []
    )


for kind in components.registry.names():

    rule:
        name:
            f"component_{kind}"
        input:
            LAYOUT.instance(),
        output:
            [
                LAYOUT.component(kind, table)
                for table in components.tables(kind)
                if table != "timings"
            ],
            timings=component_timings(kind),
        log:
            LAYOUT.log(f"components/{kind}/{{instance}}"),
        # Some take a minute: they start first, so that no core waits for them in the end.
        priority: 1
        group:
            "components"
        conda:
            ENVIRONMENT
        resources:
            **RESOURCES,
        params:
            kind=kind,
            set=component_settings(kind),
            root_seed=STUDY["root_seed"],
            out=lambda wildcards, output: folder(output[0]),
            timings=lambda wildcards, output: (
                f"--timings {shlex.quote(output.timings[0])}" if output.timings else ""
            ),
            code=component_code(kind),
        shell:
            "python -m befrl components {params.kind} --instance {input:q} --set {params.set}"
            " --root-seed {params.root_seed} --out {params.out:q} {params.timings} > {log:q} 2>&1"


@checked
def unknown_component(wildcards):
    return STUDY.component(wildcards.kind)


# Refuses a target of an unknown kind with a sentence.
rule component:
    input:
        unknown_component,
    output:
        LAYOUT.component("{kind}", "{table}"),
    wildcard_constraints:
        kind=rf"(?!(?:{'|'.join(components.registry.names())})/)[^/]+",
        table="[^/]+",
