"""One engine for the tables of all workflows: instructions in English that need no model (AACP section 6.3).

`tokens` and `values` read a text, `notation` and `sayings` a table, `matching` finds the step that a text means;
`phrases` knows the wordings of single steps, `templates` the shapes of a model's answers.
"""
