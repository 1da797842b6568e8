"""Study one component on an instance: laws, estimators, planners, exploration, run time, rates, or the theorem."""

from befrl import instances
from befrl.analysis import components
from befrl.common import storage, tidy
from befrl.common.errors import unknown


def settings(study, component, instance):
    by_instance = study.component(component)
    if instance not in by_instance:
        raise unknown("instance", instance, by_instance)
    columns = {name: list(columns) for name, columns in components.tables(component).items()}
    return [by_instance[instance], study["root_seed"], columns]


def modules(study, component, instance):
    entry = study.instance(instance)
    own = [components.registry.module_name(component), *components.registry.module(component).uses()]
    return [__name__, *own, *instances.modules(entry["family"], entry["set"])]


def make(study, component, instance):
    layout, columns = study.layout, components.tables(component)
    name, built = instances.load(layout.instance(instance))
    tables = components.run(component, name, built, study["root_seed"], study.component(component)[instance])
    for table, rows in tables.items():
        timings = table == "timings"
        path = layout.component_timings(component, name) if timings else layout.component(component, table, name)
        storage.write_text(path, tidy.text(rows, columns[table]))
