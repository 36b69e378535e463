"""What the core asks of the world, one Protocol each; adapters implement them."""

from typing import Protocol

__all__ = ["ColdStore", "InstructionEncoder", "Summarizer", "TokenCounter", "Verifier"]


class TokenCounter(Protocol):
    """How many tokens a model sees in a text; `accp_adapters.tokens.o200k_base()` is one."""

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens of `text`, at least 0; text that looks like a special token is text."""
        ...


class ColdStore(Protocol):
    """The cold tier of ACCP section 5.1: full values, content-addressed, never put into a context by themselves."""

    def put(self, session_id: str, key: str, text: str) -> None:
        """Keep `text` under `key` for `session_id`; putting the same key again changes nothing."""
        ...

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text kept under `key` for `session_id`, or None when there is none."""
        ...

    def purge(self, session_id: str) -> int:
        """Forget everything of `session_id`; return how many texts went."""
        ...


class Summarizer(Protocol):
    """Whoever writes the summary of a checkpoint in words, such as a language model (ACCP section 5.3, step 3).

    It is called where the checkpoint is taken. Who must wait for a model takes its answer first and hands in a
    function that returns it.
    """

    def __call__(self, raw: str, limit: int, /) -> str:
        """Return what `raw`, the JSON of a phase's frames, comes to, in at most `limit` tokens.

        What is longer or empty is not used, nor is the answer of one that raises: the summary by rule stands in.
        """
        ...


class Verifier(Protocol):
    """Whoever judges what an agent says it did: a rule, or a language model (ACI section 5.2, second phase).

    It sees what stands here and nothing else. Who must wait for a model asks it about the claims of `aci.evaluate`
    and hands the answers to `aci.judge`.
    """

    def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """Return None when `abstract` shows that `item` of `subtask` is done, else feedback for the agent."""
        ...


class InstructionEncoder(Protocol):
    """Whoever makes a packet of an instruction in English, such as a language model (AACP section 6.2)."""

    def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of one AACP packet that says `instruction`.

        It is for `domain` ("HR"), its result goes to `return_agent`, `priority` is "1" (critical), "2" or "3". Who
        calls this validates the packet before using it.
        """
        ...
