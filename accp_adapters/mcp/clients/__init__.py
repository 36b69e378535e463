"""The configuration files of MCP clients: where they are, which servers stand in them, and our place before those."""
