"""Judging with everything around it: carrying asks to a model, keeping answers, money, calibration, people."""
