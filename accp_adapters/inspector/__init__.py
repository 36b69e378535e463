"""Pages that a person looks at: the report of a replay, and the live inspector."""
