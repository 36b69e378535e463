"""What commands print: tables for a terminal, JSON, comma-separated values."""
