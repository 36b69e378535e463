"""A2A objects with frames in them: parts, states, events and whole tasks (ACCP section 11.4)."""
