"""Judges: language models that score plans, navigation outputs and rollouts.

Nothing is imported here, because pytest loads :mod:`pytest_robomem.judges.plugin` on every start.
"""
