"""Many servers behind one endpoint."""
