"""Exponential families of next states, one file each."""
