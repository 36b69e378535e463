"""The reading test: documents, the forms a model reads them in, questions, grading and figures."""
