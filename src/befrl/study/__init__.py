"""Studies: the config, checked before any work starts, and the code and packages that results depend on."""
