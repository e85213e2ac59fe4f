"""Budgets as ratios in one run: `python -m benchmarks [SUBJECT…]`."""
