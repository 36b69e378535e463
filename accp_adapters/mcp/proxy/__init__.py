"""The shim between a client and a server of any language, over standard streams or HTTP: the command `accp mcp`."""
