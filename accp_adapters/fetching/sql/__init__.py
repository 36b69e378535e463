"""Queries in SQL over the tables of stored texts, in an SQLite database in memory.

rows       the answer to a query                columns    what a column has, where no row was found
run        a connection for one query           functions  what a query may call, bounded
resolve    a query as SQLite is to run it       resolver   decides on each name and value in it
scope      the tables and aliases of a query    catalog    the tables that may be named, and by which names
database   a text as a database, cached         storage    how the cells of a column are kept, and come back
tokens     the words of a query                 comparing  what is compared as numbers, and what as texts
"""
