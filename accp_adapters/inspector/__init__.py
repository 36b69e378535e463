"""What a person looks at: the report of a replay."""
