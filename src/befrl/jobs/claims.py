"""Test the study's claims of one section of the paper."""

from befrl import claims
from befrl.common import storage
from befrl.study.provenance import made_by


def settings(study, section):
    ids = study.claim_section(section)
    return [ids, study["claims"]["trials"], study["root_seed"], claims.wording(ids)]


def modules(study, section):
    return [__name__, *claims.modules(section)]


def make(study, section):
    made = made_by(*modules(study, section))
    for id in study.claim_section(section):
        record = claims.evaluate(id, study["claims"]["trials"], study["root_seed"])
        storage.write_json(study.layout.claim(id), record | made)
