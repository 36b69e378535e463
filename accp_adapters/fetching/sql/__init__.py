"""Queries in SQL over the tables of stored texts, in an SQLite database in memory.

tables       a text as tables in SQLite, and the names by which a query calls them
tokens       the words of a query
names        what its names are, and what may stand beside what
expressions  its expressions, by how tightly operators bind
resolve      its statements: the query as SQLite is to run it, or its refusal
functions    what a query may call, bounded
run          a connection for one query
rows         the answer to a query
"""
