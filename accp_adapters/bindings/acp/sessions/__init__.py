"""The exchange of one agent with its peers, apart from any binding."""
