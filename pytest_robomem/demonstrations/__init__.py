"""Demonstrations: episodes with images, in files that learning code reads."""
