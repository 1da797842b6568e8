"""Titles, headings and captions of all figures, by kind (`figures/captions.yaml`)."""

from pathlib import Path

import yaml

CAPTIONS = yaml.safe_load(Path(__file__).parents[1].joinpath("captions.yaml").read_text(encoding="utf-8"))
