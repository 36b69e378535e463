"""What a query compares, sorts and adds: as numbers where they are numbers, as texts where they are texts."""
