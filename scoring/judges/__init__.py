"""Judges: who decides whether a claim and a golden mean the same defect."""
