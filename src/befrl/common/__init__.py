"""What every room may use: errors, parameters, catalogues, files, tables and random streams."""
