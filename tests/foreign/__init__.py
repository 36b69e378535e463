"""Peers that are written from the drafts alone, against the served product: they import nothing of it."""
