"""The tool `accp_fetch`, the same in every framework: its definition, its request and its answer."""

from accp_adapters.fetching.answers import (
    answer,
    answer_program,
    open_and_answer,
    passed_requests,
    passed_text,
    value_at,
    with_references,
)
from accp_adapters.fetching.request import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, FetchRequest, read_request

__all__ = [
    "FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS", "FetchRequest", "answer", "answer_program",
    "open_and_answer", "passed_requests", "passed_text", "read_request", "value_at", "with_references",
]  # fmt: skip
