"""Collect the records of the claims in one table, and list the errata."""

from befrl.claims import ledger
from befrl.claims.errata import errata
from befrl.common import storage


def settings(study):
    return study.claim_ids()


def modules(study):
    return [__name__, "befrl.claims.errata"]


def make(study):
    records = [ledger.read(study.layout.claim(id)) for id in study.claim_ids()]
    storage.write_text(study.layout.errata(), errata(records))
    storage.write_text(study.layout.ledger(), ledger.table(records))
