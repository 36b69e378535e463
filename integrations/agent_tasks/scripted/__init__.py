"""A model without weights: it does the tasks by rules, from nothing but the text of its prompt."""
