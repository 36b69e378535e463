"""`make bench`: tokens and speed, as tables. Ratios only; nothing here promises a number."""
