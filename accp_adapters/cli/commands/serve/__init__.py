"""`accp serve`: the command, its options, and what each protocol starts."""
