"""Token counters: o200k_base with its vocabulary in the package, other encodings and tokenizers by name."""

from accp_adapters.tokens.counters import (
    by_name,
    count_o200k,
    count_remembered,
    encode_o200k,
    hugging_face,
    o200k_base,
    o200k_base_encoding,
    remembered_ids,
    tiktoken_encoding,
)

__all__ = [
    "by_name", "count_o200k", "count_remembered", "encode_o200k", "hugging_face", "o200k_base",
    "o200k_base_encoding", "remembered_ids", "tiktoken_encoding",
]  # fmt: skip
