"""Reversible structural transforms that frames and views share (DESIGN section 3)."""
