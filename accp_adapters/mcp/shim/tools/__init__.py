"""A server's tools, and one tool that indexes them all."""
