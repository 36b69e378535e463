"""Attacks on the real commands: each passes where the promise of SECURITY.md holds that it was made against."""
