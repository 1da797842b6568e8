"""Meaning and unit of every column of the regret tables of a case (instance, track)."""

from befrl.analysis.columns import TABLES

SUMMARY, CURVES, PAIRED = (TABLES[f"regret/{name}"] for name in ("summary", "curves", "paired"))
CERTIFICATES, CERTIFICATE_CURVES = (TABLES[f"regret/{name}"] for name in ("certificates", "certificate_curves"))
ORDER, TUNING, TIMINGS = (TABLES[f"regret/{name}"] for name in ("order", "tuning", "timings"))
