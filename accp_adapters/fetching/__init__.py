"""What a fetch shows of a stored text: a path, columns, rows by value or lines of it, and how to go on."""

from accp_adapters.fetching.page import answer
from accp_adapters.fetching.select import Query

__all__ = ["Query", "answer"]
