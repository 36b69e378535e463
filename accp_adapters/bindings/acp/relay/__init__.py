"""Binding C, the relay and its clients (ACP transport 0.3, section 5)."""
