"""What a person looks at: figures as tables for a terminal."""
