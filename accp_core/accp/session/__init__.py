"""One session between agents: delivery, exchanges, streams, negotiation (ACCP sections 3.7, 6.4 and 7.1)."""
