"""Planning on cells: backward induction and exact policy evaluation, batched over seeds."""

from befrl.planning.exact import backward_induction, evaluate, greedy, largest

__all__ = ["backward_induction", "evaluate", "greedy", "largest"]
