"""`accp mcp`: the shim between a client and a server of any language, over standard streams or HTTP."""
