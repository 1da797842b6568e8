"""Shared by all rooms: errors, parameters, catalogues, files, tables, the layout of results and random streams."""
