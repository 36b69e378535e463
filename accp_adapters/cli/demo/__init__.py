"""`accp demo`: a LangGraph agent does one job over real files twice, with and without the middleware."""
