"""The `accp` command."""
