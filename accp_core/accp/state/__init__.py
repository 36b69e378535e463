"""What a session knows: hot, warm and cold state, checkpoints and deltas (ACCP section 5)."""
