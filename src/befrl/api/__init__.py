"""befrl from Python: instances, runs, comparisons and files, which `import befrl` offers (docs/python.md)."""
