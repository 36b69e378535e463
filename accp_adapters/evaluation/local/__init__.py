"""A model of 135 million parameters, without a key: how well it copies values from views and from JSON."""
