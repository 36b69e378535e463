"""How people say the steps of the draft's workflows: one table each, in the form that `workflow_from_dict` reads."""
