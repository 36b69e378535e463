"""Queries in SQL over the tables of stored texts, in an SQLite database in memory.

tables       a text as tables in SQLite, and the names by which a query calls them
operands     the words of a query, what its operands are, and what may stand beside what
query        its names and expressions: the words that are changed, or the refusal
run          a connection for one query, the functions that it may call, and the answer
"""
