"""Whether a model that reads a view still knows what the JSON says: questions whose answers code checks.

`evaluate(model, documents)` asks and returns a `Report`; `accp eval` is the command.
"""

from accp_adapters.evaluation.models import Answered, Model, chat_model, mailbox, model_named
from accp_adapters.evaluation.reading.documents import Document, read_documents
from accp_adapters.evaluation.reading.report import Report
from accp_adapters.evaluation.reading.run import evaluate
from accp_adapters.evaluation.reading.shipped_documents import shipped_documents

__all__ = [
    "Answered",
    "Document",
    "Model",
    "Report",
    "chat_model",
    "evaluate",
    "mailbox",
    "model_named",
    "read_documents",
    "shipped_documents",
]
