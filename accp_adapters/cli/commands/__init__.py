"""The sub-commands of `accp`, one module each."""
