"""Databases in which LangGraph keeps checkpoints, read as data: nothing in them is imported, called or unpickled."""
