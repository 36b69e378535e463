"""The tasks of deepagents' own evals, done by any chat model in four arms."""
