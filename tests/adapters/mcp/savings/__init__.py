"""What rewriting saves."""
