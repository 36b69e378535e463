"""What a fetch shows of a stored text: a path, columns, rows by value or lines of it, and how to go on."""

from accp_adapters.fetching.page import answer
from accp_adapters.fetching.select import Query
from accp_adapters.fetching.tool import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS

__all__ = ["FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS", "Query", "answer"]
