"""Shared by all claims: the record of a finding, random laws, derivatives and searches."""
