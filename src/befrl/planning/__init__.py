"""How agents plan in a model: planners and optimism."""
