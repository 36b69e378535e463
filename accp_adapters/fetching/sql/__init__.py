"""Queries in SQL over the tables of stored texts, in an SQLite database in memory.

tables       a text as tables in SQLite, and the names by which a query calls them
tokens       the words of a query, and what SQLite is given in their place
operands     what its operands are, and what may stand beside what
query        its names and expressions: the words that are changed, or the refusal
functions    what a query may call, bounded
run          a connection for one query
rows         the answer to a query
"""
