"""Many MCP servers behind one endpoint: the command `accp mcp --config`, over standard streams or HTTP."""
