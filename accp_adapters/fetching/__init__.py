"""The tool `accp_fetch`, the same in every framework: its definition, its request and its answer."""

from accp_adapters.fetching.page import answer
from accp_adapters.fetching.request import FetchRequest, read_request
from accp_adapters.fetching.tool import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS

__all__ = ["FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS", "FetchRequest", "answer", "read_request"]
