"""Shared by all layers: errors, parameters, registries, files, tables, the layout of results and random streams."""
