"""What rewriting saves: counted beside the messages, and kept in a file of the user's."""
