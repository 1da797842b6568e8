"""Build an instance: theta*, constants, V* and gap."""

from befrl import instances
from befrl.study.provenance import made_by


def settings(study, instance):
    return study.instance(instance)


def modules(study, instance):
    entry = study.instance(instance)
    return [__name__, *instances.modules(entry["family"], entry["set"])]


def make(study, instance):
    entry = study.instance(instance)
    built = instances.build(entry["family"], entry["set"])
    instances.save(study.layout.instance(instance), instance, built, made_by(*modules(study, instance)))
