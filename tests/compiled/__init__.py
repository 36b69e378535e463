"""What Cython compiled does the same as the modules of Python that it was compiled from."""
