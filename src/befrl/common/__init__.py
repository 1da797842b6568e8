"""Shared by all rooms: errors, parameters, registries, files, tables, the layout of results and random streams."""
