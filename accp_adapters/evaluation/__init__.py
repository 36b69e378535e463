"""Whether a model that reads our forms still answers and acts as it would: on public benchmarks, with checks by code.

`evaluate(model, documents)` asks questions and returns a `Report`; `accp eval public` is the command.
"""

from accp_adapters.evaluation.models import Answered, Model, chat_model, mailbox, model_named
from accp_adapters.evaluation.reading import Document, Question, evaluate
from accp_adapters.evaluation.report import Report

__all__ = ["Answered", "Document", "Model", "Question", "Report", "chat_model", "evaluate", "mailbox", "model_named"]
