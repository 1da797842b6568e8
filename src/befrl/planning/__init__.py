"""Planning in a model: planners and optimism."""
