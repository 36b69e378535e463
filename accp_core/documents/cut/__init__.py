"""Texts that a tool cut: JSON up to the cut, marks of what was left out."""
