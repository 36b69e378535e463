"""`accp demo`: a LangGraph agent does one job over real files twice, without and with the middleware."""
