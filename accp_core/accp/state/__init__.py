"""The state of a session: hot, warm and cold tiers, checkpoints and deltas (ACCP section 5)."""
