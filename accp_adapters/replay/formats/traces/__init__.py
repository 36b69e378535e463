"""The formats of observability tools: spans, runs and log records of model calls."""
