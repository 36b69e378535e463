"""What `accp doctor` looks at; each check says what it found and, where something is wrong, the next step."""
