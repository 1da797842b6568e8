"""The Python interface, exported by `befrl`: instances, runs, comparisons and files (docs/python.md)."""
