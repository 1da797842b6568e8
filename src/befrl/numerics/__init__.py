"""Linear algebra, solvers and dynamic programming on arrays, for many rows in lock step."""
