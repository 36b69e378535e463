"""Reversible transforms of the structure of JSON values, used by views and frames."""
