"""Every requirement of draft-chang-agent-context-interaction-01 as data, in the draft's words.

The draft has three sentences with a key word of RFC 2119. The other rules are plain sentences about what an agent
receives, returns and is judged by (force `states`); its section 4.2 is empty.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

VECTORS: Final = "conformance/test_aci_vectors.py"
CONTEXTS: Final = "core/aci/test_contexts.py"
EVALUATION: Final = "core/aci/test_evaluation.py"
INTERACTION: Final = "core/aci/test_interaction.py"
ANSWERS: Final = f"{VECTORS}::test_an_answer_is_read_and_an_undone_item_is_never_done"
RESULTS: Final = "core/aci/test_results.py"
ISOLATION: Final = "core/aci/test_isolation.py"
PLAN: Final = "core/aci/test_plan.py"
REPLY: Final = "core/aci/test_reply.py"
MASTER: Final = "adapters/langgraph/teams/test_master.py"
PROPERTIES: Final = "properties/test_aci.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "aci:1-1": (f"{MASTER}::test_no_agent_reads_anything_of_another_agent_or_of_the_task",),
        "aci:2.1-1": (
            f"{PROPERTIES}::test_a_reply_is_accepted_with_the_masters_plan_or_refused",
            f"{MASTER}::test_no_agent_reads_anything_of_another_agent_or_of_the_task",
        ),
        "aci:2.1-2": (f"{INTERACTION}::test_no_delivery_holds_the_query_or_anything_of_another_subtask",),
        "aci:2.1-3": (
            f"{VECTORS}::test_a_reply_is_accepted_or_refused",
            f"{MASTER}::test_nothing_an_agent_worked_with_reaches_the_masters_state",
        ),
        "aci:2.1-4": (
            f"{INTERACTION}::test_synchronously_one_is_delivered_and_awaited_before_the_next",
            f"{INTERACTION}::test_synchronously_nothing_is_delivered_before_the_evaluation",
        ),
        "aci:2.1-5": (
            f"{INTERACTION}::test_asynchronously_all_that_is_ready_is_delivered",
            f"{INTERACTION}::test_the_order_of_replies_does_not_matter",
        ),
        "aci:3-1": (f"{INTERACTION}::test_a_dependant_gets_abstracts_and_stored_references_and_no_other_agent_does",),
        "aci:4.1-1": (f"{MASTER}::test_no_agent_reads_anything_of_another_agent_or_of_the_task",),
        "aci:4.1-2": (
            f"{INTERACTION}::test_the_status_follows_the_subtasks",
            f"{RESULTS}::test_a_failure_is_an_answer_and_says_which_failure_stopped_what_waits_for_it",
            f"{RESULTS}::test_a_mailer_that_only_says_done_is_called_once_and_is_unverified",
        ),
        "aci:4.1-3": (
            f"{EVALUATION}::test_a_verifier_sees_the_subtask_the_item_and_the_abstract_of_claims_only",
            f"{VECTORS}::test_phase_1_says_what_is_open_and_what_is_claimed",
        ),
        "aci:4.1-4": (
            f"{MASTER}::test_a_dependant_opens_a_full_result_which_the_state_carries_without_a_store",
            f"{MASTER}::test_a_dependant_opens_a_full_result_which_the_state_carries_without_a_store*",
        ),
        "aci:5.1-1": (f"{VECTORS}::test_a_task_context_is_read_and_written",),
        "aci:5.1-2": (f"{PLAN}::test_a_goal_is_what_its_subtasks_come_to",),
        "aci:5.1-3": (
            f"{VECTORS}::test_a_task_context_is_read_and_written",
            f"{RESULTS}::test_times_are_those_that_were_passed",
        ),
        "aci:5.2-1": (f"{VECTORS}::test_an_agent_context_is_read_and_written",),
        "aci:5.2-2": (f"{PLAN}::test_all_that_waits_for_a_subtask_directly_or_not", f"{PLAN}::test_it_is_no_plan"),
        "aci:5.2-3": (f"{ISOLATION}::*", f"{VECTORS}::test_an_agent_context_is_read_and_written"),
        "aci:5.2-4": (
            ANSWERS,
            f"{VECTORS}::test_an_agent_context_is_read_and_written",
            f"{VECTORS}::test_what_is_no_agent_context_is_refused",
        ),
        "aci:5.2-5": (f"{CONTEXTS}::*",),
        "aci:5.2-6": (
            f"{VECTORS}::test_phase_1_says_what_is_open_and_what_is_claimed",
            f"{INTERACTION}::test_only_open_items_are_tried_again_with_feedback",
        ),
        "aci:5.2-7": (f"{EVALUATION}::test_every_item_is_judged_by_itself", "core/aci/replies/test_verdict.py::*"),
        "aci:5.2-8": (
            f"{VECTORS}::test_an_agent_context_is_read_and_written",
            f"{RESULTS}::test_times_are_those_that_were_passed",
        ),
        "aci:5.3-1": (f"{ISOLATION}::*",),
        "aci:5.3-2": (f"{VECTORS}::test_a_reply_is_accepted_or_refused", f"{REPLY}::*"),
        "aci:5.3-3": (f"{INTERACTION}::test_the_status_follows_the_subtasks",),
        "aci:6-1": ("adapters/a2a/test_contexts.py::*",),
        "aci:6-2": (
            f"{ISOLATION}::*",
            f"{MASTER}::test_what_is_stored_of_one_agent_is_read_by_no_other",
        ),
    }
)

_rule = rules(SHOWN_BY, "aci:")
_must, _may, _states = (_rule[force] for force in (Force.MUST, Force.MAY, Force.STATES))

REQUIREMENTS: Final = (
    _states(
        "1-1",
        0,
        "They do not maintain a global view of the task and do not directly interact with end users or other invoked "
        "agents unless explicitly mediated by the Master Agent.",
    ),
    _states("2.1-1", 0, "TaskContext: … created and maintained exclusively by the Master Agent."),
    _states(
        "2.1-2",
        0,
        "AgentContext: … strictly isolated between subtasks; during each subtask invocation, only the AgentContext "
        "instance corresponding to the target agent is delivered.",
    ),
    _states(
        "2.1-3",
        0,
        "Upon completion, the corresponding agent returns exclusively its own updated AgentContext.",
    ),
    _must(
        "2.1-4",
        0,
        "SynchronousContextInteraction: … an agent MUST wait for the completion of the current interaction round, "
        "including context exchange and result feedback, before proceeding to the next task or interaction.",
    ),
    _may(
        "2.1-5",
        0,
        "AsynchronousContextInteraction: … an agent MAY exchange contexts with multiple agents concurrently without "
        "waiting for the completion of other ongoing interactions.",
    ),
    _states("3-1", 0, "The input of the latter agent in a workflow will depend upon the former agent."),
    _states(
        "4.1-1",
        0,
        "Each agent receives only the context strictly relevant to its assigned task.",
        "The rules of isolation are those of sections 2.1, 4.1 and 5.2: section 4.2, which names them, is empty.",
    ),
    _states("4.1-2", 0, "Clear task progress monitoring and handling procedures are specified."),
    _states(
        "4.1-3",
        0,
        "The Master Agent evaluates the outputs of the invoked-agent based on specific fields in the structured "
        "context, avoiding the need to process or transmit full-context outputs.",
    ),
    _states(
        "4.1-4",
        0,
        "Agents are allowed to store or offload full context data to external storage systems, while only structured "
        "task descriptions and references to the full context are exchanged.",
    ),
    _states("5.1-1", 0, "TaskContext: TaskID, UserQuery, TaskName, TaskDescription, GoalStatus, OverallStatus."),
    _states(
        "5.1-2", 0, "An aggregated OverallStatus field reflects the global execution state derived from these goals."
    ),
    _states("5.1-3", 0, "StartTime and EndTime: … their inclusion is not mandatory … and may be omitted."),
    _states(
        "5.2-1", 0, "AgentID, AgentName, SubTaskID, and SubTaskName bind the context to a concrete subtask instance."
    ),
    _states("5.2-2", 0, "The Dependencies array expresses prerequisite relations among subtasks."),
    _states("5.2-3", 0, "Context/ContextURI specifies the address of external or long-term context."),
    _states("5.2-4", 0, "ItemstateUpdates: … 0 denotes not completed and 1 denotes completed."),
    _states("5.2-5", 0, "KeyInformation: concise output abstracts generated by the agent for each item."),
    _states(
        "5.2-6",
        0,
        "It first inspects ItemstateUpdates for a preliminary decision; items marked as 0 are considered unfinished "
        "and bypass further assessment.",
    ),
    _states(
        "5.2-7",
        0,
        "For items marked as 1, the Master Agent performs a second-stage verification based on the corresponding "
        "KeyInformation.",
    ),
    _states(
        "5.2-8", 0, "LastUpdated records the timestamp of the most recent modification; its inclusion is not required."
    ),
    _states(
        "5.3-1",
        0,
        "Only task-relevant information, including todoItems and the associated context reference, is delivered.",
    ),
    _states(
        "5.3-2",
        0,
        "The Server Agent returns an updated AgentContext containing ItemStateUpdates and KeyInformation … rather than "
        "full execution traces.",
    ),
    _states("5.3-3", 0, "Upon evaluation, the Master Agent updates the global TaskContext accordingly."),
    _must(
        "6-1",
        0,
        "Implementations MUST ensure confidentiality and integrity of AgentContext messages by relying on secure "
        "underlying transport mechanisms, such as TLS-protected channels, and appropriate authentication and access "
        "control between agents.",
        "The library checks integrity and access to references; TLS and authentication are those of the A2A server "
        "and client that a deployment configures.",
    ),
    _states("6-2", 0, "Failure to enforce this isolation may result in unintended information disclosure."),
)

FAMILY: Final = Family(
    name="ACI",
    titles={0: "draft-chang-agent-context-interaction-01"},
    sections=frozenset({"1", "2.1", "3", "4.1", "5.1", "5.2", "5.3", "6"}),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
