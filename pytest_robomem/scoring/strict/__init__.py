"""Rulebook ``strict``: what a careful person would demand. Rules and reasons: ``docs/rules.md``."""
