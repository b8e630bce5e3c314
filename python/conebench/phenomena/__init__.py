"""Phenomena of contact and friction with an exact value each, measured on engines (docs/phenomena.md)."""
