"""The `accp` command."""

from accp_adapters.cli.app import main

__all__ = ["main"]
