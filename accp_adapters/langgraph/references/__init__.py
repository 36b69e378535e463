"""References in a LangGraph agent: who may open which text, how texts pass on, and the stores that keep them."""
