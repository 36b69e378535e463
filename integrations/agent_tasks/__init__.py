"""Agents that work on a made world through plain tools, with and without a middleware; code checks their answers."""
