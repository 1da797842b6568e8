"""Arrays alone: linear algebra, solvers and dynamic programming for many rows in lock step."""
