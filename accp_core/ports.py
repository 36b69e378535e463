"""The protocols that the core requires of its callers; adapters implement them."""

from typing import Protocol

__all__ = [
    "AsyncInstructionEncoder", "BoundedCounter", "ColdStore", "InstructionEncoder", "Summarizer", "TokenCounter",
    "Verifier",
]  # fmt: skip


class TokenCounter(Protocol):
    """Counts the tokens of a model, such as `accp_adapters.tokens.o200k_base()`."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens of `text`, at least 0; special tokens in it are counted as plain text."""
        ...


class BoundedCounter(TokenCounter, Protocol):
    """A counter that also knows, in a part of the time, how many tokens a text has at least."""

    def at_least(self, text: str, /) -> int:
        """Return a number that the tokens of `text`, and of any text that begins with it, are never below."""
        ...


class ColdStore(Protocol):
    """The cold tier of ACCP section 5.1: whole texts by key, separate for each session."""

    def put(self, session_id: str, key: str, text: str) -> None:
        """Store `text` under `key` for `session_id`; storing the same key again changes nothing."""
        ...

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text under `key` for `session_id`, None where there is none."""
        ...

    def find(self, session_id: str, beginning: str) -> list[str]:
        """Return the keys of `session_id` that begin so, a few where they are many.

        Args:
            session_id: The session.
            beginning: A whole key, or as much of it as `references.short_key` gives.
        """
        ...

    def delete(self, session_id: str, key: str) -> None:
        """Delete the text under `key` for `session_id`, where there is one."""
        ...

    def purge(self, session_id: str) -> int:
        """Delete all texts of `session_id`; return their number."""
        ...


class Summarizer(Protocol):
    """Writes the summary of a checkpoint, such as a language model (ACCP section 5.3, step 3).

    It is called synchronously when the checkpoint is taken. A caller whose model is asynchronous awaits the summary
    first and passes a function that returns it.
    """

    def __call__(self, raw: str, limit: int, /) -> str:
        """Return a summary of `raw`, the JSON of a phase's frames, in at most `limit` tokens.

        The summary by rule is used instead of an empty or longer one, and where this raises.
        """
        ...


class Verifier(Protocol):
    """Judges whether an item is done: by rule, or with a language model (ACI section 5.2, second phase).

    It receives only these three texts. A caller whose model is asynchronous asks it about the claims of `aci.evaluate`
    and passes the verdicts to `aci.judge`.
    """

    def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """Return None where `abstract` shows that `item` of `subtask` is done, else feedback for the agent."""
        ...


class InstructionEncoder(Protocol):
    """Encodes an instruction in English as a packet, such as a language model (AACP section 6.2)."""

    def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of one AACP packet for `instruction`; the caller validates it.

        Args:
            instruction: The instruction in English.
            domain: The DOM of the packet, such as "HR".
            return_agent: The agent that receives the result.
            priority: "1" (critical), "2" (medium) or "3" (low).
        """
        ...


class AsyncInstructionEncoder(Protocol):
    """Encodes an instruction in English as a packet, such as a language model that is awaited (AACP section 6.2)."""

    async def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of one AACP packet; arguments as for `InstructionEncoder`."""
        ...
