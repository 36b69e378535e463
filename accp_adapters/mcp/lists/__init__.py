"""Lists of calls: several tool calls in one call of `accp_tools`, as an optional wrapper around a router."""
