"""The tool of Google ADK that opens the references of one request."""

from __future__ import annotations

from typing import Any, Final

from google.adk.tools import BaseTool
from google.genai.types import FunctionDeclaration

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages import Projection

__all__ = ["FetchTool"]


class FetchTool(BaseTool):
    """The fetch tool of one request: it opens what that request shows."""

    def __init__(self, shown: Projection) -> None:
        super().__init__(name=FETCH_NAME, description=FETCH_DESCRIPTION)
        self._shown: Final = shown

    def _get_declaration(self) -> FunctionDeclaration:
        parameters = dict(FETCH_PARAMETERS)
        return FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=parameters)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> str:
        """Answer a call; a refusal is an answer that the model reads."""
        return self._shown.answer(args)
