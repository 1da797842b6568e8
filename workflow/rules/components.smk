# Studies of single components: one rule for each kind of study, one job for each instance.


def component_outputs(kind):
    """The tables of a component study."""
    return [
        (
            LAYOUT.component_timings(kind)
            if table == "timings"
            else LAYOUT.component(kind, table)
        )
        for table in components.tables(kind)
    ]


for kind in components.registry.names():

    rule:
        name:
            f"component_{kind}"
        input:
            LAYOUT.instance(),
        output:
            component_outputs(kind),
        log:
            LAYOUT.log(f"components/{kind}/{{instance}}"),
        benchmark:
            LAYOUT.benchmark(f"components/{kind}/{{instance}}")
        # Some take a minute: they start first, so that no core waits for them in the end.
        priority: 1
        group:
            "components"
        resources:
            **STUDY.resources(),
        params:
            kind=kind,
            version=version("component", component=kind),
        shell:
            f"{JOB} component"
            " --version {params.version}"
            " --component {params.kind} --instance {wildcards.instance} > {log:q} 2>&1"
