"""Every requirement of draft-mackay-aacp-01 as data, in the draft's words.

REQUIRED is listed as MUST and RECOMMENDED as SHOULD, as BCP 14 has it. The three tiers of section 6.3 are plain
sentences (force `states`), but they are what an encoder is judged by.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

VECTORS: Final = "core/aacp/test_vectors.py"
REPORT: Final = f"{VECTORS}::test_a_validator_reports_exactly_this"
READ: Final = f"{VECTORS}::test_a_text_says_this_packet_and_is_written_canonically"
REFUSED: Final = f"{VECTORS}::test_a_refused_text_is_refused_with_this_code_at_this_place"
STEPS: Final = f"{VECTORS}::test_these_arguments_give_this_packet"
AUDIT: Final = "core/aacp/test_audit.py"
ENGLISH: Final = "core/aacp/test_english.py"
FALLBACK: Final = "core/aacp/test_fallback.py"
ENCODING: Final = "core/aacp/test_encoding.py"
PACKET: Final = "core/aacp/test_packet.py"
COMMAND: Final = "adapters/cli/test_aacp_command.py"
TABLES: Final = "core/aacp/test_steps.py"
VALIDATION: Final = "core/aacp/test_validation.py"
WORDINGS: Final = "core/aacp/patterns/test_wordings.py"
CHAT_MODEL: Final = "adapters/instructions/test_chat_model.py"
ASYNC: Final = "adapters/instructions/test_async_fallback.py"
STORE: Final = "adapters/stores/test_instructions.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "aacp:4-1": (
            f"{READ}[4-packet*",
            f"{REFUSED}[4-packet: a field without colon]",
            f"{REFUSED}[4-packet: no key]",
        ),
        "aacp:4-2": (f"{REFUSED}[4-packet: an empty slot*", f"{REPORT}[7-validation: an empty slot]"),
        "aacp:4.1-1": (f"{REFUSED}[4-packet: no TASK]", f"{REPORT}[7-validation: no TASK]"),
        "aacp:4.1-2": (f"{FALLBACK}::test_an_answer_that_is_no_packet_is_refused_and_not_kept", f"{STEPS}[6.1*"),
        "aacp:4.1-3": (f"{REFUSED}[4-packet: no DOM]", f"{REPORT}[7-validation: no DOM]"),
        "aacp:4.1-4": (f"{FALLBACK}::test_another_domain_never_gets_this_packet", f"{STEPS}[6.1*"),
        "aacp:4.2-1": (f"{REPORT}[7-validation: no agent]", f"{REPORT}[7-validation: positional fields only]"),
        "aacp:4.2-2": (f"{REPORT}[7-validation: no version]", f"{REPORT}[7-validation: an empty version]"),
        "aacp:4.2-3": (
            f"{STEPS}[6.1*",
            f"{FALLBACK}::test_agent_priority_and_version_are_stamped_whatever_the_model_says",
        ),
        "aacp:4.2-4": (
            f"{STEPS}[6.1*",
            f"{REPORT}[7-validation: no priority]",
            f"{ENCODING}::test_a_period_is_a_time_that_exists",
            f"{ENCODING}::test_a_value_of_a_typed_field_that_is_none_is_refused_and_warned_about",
        ),
        "aacp:4.2-5": (f"{COMMAND}::test_a_list_of_fields_is_left_out_where_the_receiver_has_its_own",),
        "aacp:4.3-1": (f"{READ}[4-packet*",),
        "aacp:4.3-2": (
            f"{REPORT}[7-validation: an organisation's key]",
            f"{REPORT}[7-validation: a key that only the reference has]",
        ),
        "aacp:4.4-1": (f"{READ}[4-packet: 4.4*", f"{REPORT}[7-validation: 4.4*"),
        "aacp:5.1-1": (f"{REPORT}[7-validation: an unknown TASK]", f"{REPORT}[7-validation: lower case]"),
        "aacp:5.1-2": (
            f"{REPORT}[7-validation: an unknown TASK]",
            f"{READ}[4-packet: unknown words, own keys after the known ones]",
        ),
        "aacp:5.2-1": (f"{VALIDATION}::test_an_organisation_s_own_words_are_known_where_they_are_declared",),
        "aacp:5.2-2": (f"{REPORT}[7-validation: an unknown DOM]",),
        "aacp:5.3-1": (f"{REPORT}[7-validation: an unknown priority]", f"{REPORT}[7-validation: an empty priority]"),
        "aacp:6.1-1": (f"{STEPS}[6.1*", f"{PACKET}::test_equal_packets_have_equal_texts"),
        "aacp:6.1-2": (f"{STEPS}[6.1*", f"{VECTORS}::test_a_run_gives_the_packets_of_its_hops"),
        "aacp:6.2-1": (f"{CHAT_MODEL}::test_a_packet_is_found_in_the_answer", f"{ASYNC}::test_a_chat_model_is_awaited"),
        "aacp:6.3-1": (
            f"{FALLBACK}::test_a_new_instruction_is_asked_once_and_known_afterwards",
            "core/aacp/test_instruction.py::test_case_and_white_space_make_no_other_instruction",
        ),
        "aacp:6.3-2": (
            f"{WORDINGS}::*",
            f"{FALLBACK}::test_a_shape_is_learned_from_one_answer",
            f"{FALLBACK}::test_another_instruction_never_gets_this_packet",
        ),
        "aacp:6.3-3": (
            f"{FALLBACK}::test_a_new_instruction_is_asked_once_and_known_afterwards",
            f"{FALLBACK}::test_an_answer_that_is_no_packet_is_refused_and_not_kept",
        ),
        "aacp:6.3-4": (
            f"{STORE}::test_forty_threads_in_each_of_four_processes_make_one_call_of_the_model",
            f"{ASYNC}::test_forty_callers_of_one_shape_ask_the_model_once",
        ),
        "aacp:7-1": (f"{REPORT}[7-validation: no TASK]", f"{REPORT}[7-validation: an unknown TASK]"),
        "aacp:7-2": (f"{REPORT}[7-validation: no DOM]", f"{REPORT}[7-validation: an unknown DOM]"),
        "aacp:7-3": (f"{REPORT}[7-validation: no agent]", f"{REPORT}[7-validation: an empty agent]"),
        "aacp:7-4": (f"{REPORT}[7-validation: no version]",),
        "aacp:7-5": (f"{REPORT}[7-validation: an unknown TASK]", f"{REPORT}[7-validation: an unknown DOM]"),
        "aacp:7-6": (f"{REPORT}[7-validation: no priority]",),
        "aacp:7-7": (f"{REPORT}[7-validation: a later version]",),
        "aacp:7-8": (f"{REPORT}[7-validation: sentiment without tone]", f"{REPORT}[7-validation: sentiment with tone]"),
        "aacp:7-9": (
            f"{REPORT}[7-validation: lifetime value without currency]",
            f"{REPORT}[7-validation: lifetime value with currency]",
        ),
        "aacp:7-10": (f"{REPORT}[7-validation: an organisation's key]",),
        "aacp:7-11": (f"{VALIDATION}::test_only_a_valid_packet_is_given_out",),
        "aacp:7-12": (
            f"{FALLBACK}::test_every_translation_is_observed",
            "adapters/cli/test_aacp_command.py::test_warnings_are_told_beside_the_packet",
        ),
        "aacp:7-13": (f"{REPORT}[7-validation: an unknown TASK]", f"{READ}[4-packet: an empty value]"),
        "aacp:8-1": (
            f"{ENGLISH}::test_a_packet_is_one_sentence",
            f"{ENGLISH}::test_every_word_of_the_draft_has_a_name",
        ),
        "aacp:8-2": (f"{AUDIT}::test_a_record_comes_back_from_its_line", f"{AUDIT}::test_a_replay_tells*"),
        "aacp:9-1": (f"{COMMAND}::test_a_list_of_fields_is_left_out_where_the_receiver_has_its_own",),
        "aacp:13-1": (f"{VALIDATION}::test_an_organisation_s_own_words_are_known_where_they_are_declared",),
        "aacp:13-2": (f"{VALIDATION}::test_an_organisation_s_own_words_are_known_where_they_are_declared",),
        "aacp:14-1": (f"{REPORT}[7-validation: no version]", f"{STEPS}[6.1*"),
        "aacp:14-2": (f"{REPORT}[7-validation: a later version]", f"{REPORT}[7-validation: the version of*"),
        "aacp:14-3": (f"{REPORT}[7-validation: a later version]",),
        "aacp:15-1": (
            f"{PACKET}::test_any_text_is_a_packet_or_refused_at_a_place_within_it",
            f"{PACKET}::test_no_value_adds_or_changes_a_field",
            f"{PACKET}::test_hostile_texts_are_looked_at_once",
        ),
        "aacp:15-2": (f"{FALLBACK}::test_an_entry_that_somebody_changed_is_not_served",),
        "aacp:15-3": (f"{AUDIT}::test_a_replay_tells*", "integrations/test_payroll.py::*"),
        "aacp:15-4": (f"{ENGLISH}::test_every_value_is_told_as_it_stands",),
        "aacp:15-5": (
            f"{ENGLISH}::test_every_value_is_told_as_it_stands",
            f"{CHAT_MODEL}::test_the_instruction_is_data_and_the_words_are_those_of_the_vocabulary",
        ),
        "aacp:15-6": (
            "core/accp/session/test_delivery.py::test_an_id_that_was_seen_is_refused_with_e3002_even_with_a_new_number",
        ),
        "aacp:15-7": (
            f"{REPORT}[15-guard*",
            f"{ENCODING}::test_personal_data_is_refused_wherever_it_stands_and_named_by_the_validator",
            f"{TABLES}::test_personal_data_is_passed_by_its_address_only",
            f"{FALLBACK}::test_an_answer_that_is_no_packet_is_refused_and_not_kept",
            f"{VALIDATION}::test_what_a_guard_finds_can_be_forbidden",
        ),
        "aacp:15-8": (f"{STORE}::test_a_file_is_for_its_owner_only_and_outlives_the_registry",),
        "aacp:15-9": (f"{FALLBACK}::test_english_is_kept_where_it_is_wanted_only",),
    }
)

_rule = rules(SHOWN_BY, "aacp:")
_must, _must_not, _should, _should_not, _may, _states = (_rule[force] for force in Force)
_OPEN: Final = (
    "Sections 5.1 and 5.2 let implementations define more: a validator warns. Our workflows write no others; "
    "`encode_packet` writes what it is given."
)

REQUIREMENTS: Final = (
    _must("4-1", 0, "All other fields MUST be named key:value pairs."),
    _must_not("4-2", 0, "Empty positional slots MUST NOT appear in v1.1 packets."),
    _must("4.1-1", 0, "Field 0 -- TASK: The action verb. REQUIRED."),
    _must("4.1-2", 0, "Field 0 -- TASK: … MUST be one of the values defined in Section 5.1.", _OPEN),
    _must("4.1-3", 0, "Field 1 -- DOM: The business domain context. REQUIRED."),
    _must("4.1-4", 0, "Field 1 -- DOM: … MUST be one of the values defined in Section 5.2.", _OPEN),
    _must("4.2-1", 0, "return: The agent identifier that receives the result. REQUIRED."),
    _must("4.2-2", 0, "aacp: The protocol version. REQUIRED."),
    _must("4.2-3", 0, 'aacp: … MUST be "1.1" for packets conforming to this specification.'),
    _should(
        "4.2-4",
        0,
        "The following named fields are RECOMMENDED where applicable: p, res, period, filter, fields, fmt.",
    ),
    _should(
        "4.2-5",
        0,
        "fields: … SHOULD be omitted when the receiving agent has default field definitions in its system "
        "configuration.",
        "Nothing in the draft tells an encoder what its receiver has: the caller does (`fields=None`); without it the "
        "packets are those of the reference encoder.",
    ),
    _may("4.3-1", 0, "Additional named fields MAY be appended after core fields."),
    _must("4.3-2", 0, "Unknown extended keys MUST generate advisory warnings in validators, not errors."),
    _states("4.4-1", 0, "Packet Examples: six packets."),
    _must("5.1-1", 0, "Implementations MUST warn on unrecognised TASK values."),
    _must_not("5.1-2", 0, "Implementations MUST NOT reject packets with unrecognised TASK values."),
    _may("5.2-1", 0, "Implementors MAY define additional domain values."),
    _should("5.2-2", 0, "Unrecognised DOM values SHOULD generate advisory warnings."),
    _states("5.3-1", 0, "The p: field accepts: 1 (critical), 2 (medium, default), 3 (low)."),
    _states(
        "6.1-1",
        0,
        "A rule-based encoder deterministically produces AACP packets from structured input without an LLM API call.",
    ),
    _states(
        "6.1-2",
        0,
        "Payroll (6 coordination hops), IT Provisioning (6), Invoice Processing (3), Contract Review (3).",
    ),
    _states(
        "6.2-1",
        0,
        "For novel instructions … an LLM-assisted encoder produces AACP packets by submitting the English instruction "
        "to a language model with the AACP specification as a system prompt.",
    ),
    _states(
        "6.3-1",
        0,
        "Tier 1: The SHA-256 hash of the normalised English instruction is looked up in the local registry. An exact "
        "match returns the cached packet immediately … The times_seen counter is incremented.",
    ),
    _states(
        "6.3-2",
        0,
        "Tier 2: The instruction is matched against keyword patterns from both the registry and a built-in pattern "
        "set. A match above the configured threshold returns the cached packet or routes to rule-based encoding.",
        "Every word must be covered unless a threshold below 1 is configured: on our near-misses lower ones lose words "
        "that matter.",
    ),
    _states(
        "6.3-3",
        0,
        "Tier 3: Novel instructions with no match are encoded via LLM. The result is logged to the registry.",
    ),
    _states("6.3-4", 0, "Each novel instruction pattern incurs at most one LLM encoding call."),
    _must("7-1", 0, "AACP validators MUST check: Field 0 (TASK) is present and recognised"),
    _must("7-2", 0, "AACP validators MUST check: Field 1 (DOM) is present and recognised"),
    _must("7-3", 0, "AACP validators MUST check: A return: named field is present and non-empty"),
    _must("7-4", 0, "AACP validators MUST check: An aacp: named field is present"),
    _should("7-5", 0, "AACP validators SHOULD warn on: Unrecognised TASK or DOM values"),
    _should("7-6", 0, "AACP validators SHOULD warn on: Missing p: field"),
    _should("7-7", 0, "AACP validators SHOULD warn on: AACP version mismatch"),
    _should("7-8", 0, "AACP validators SHOULD warn on: sentiment: present without tone:"),
    _should("7-9", 0, "AACP validators SHOULD warn on: ltv: present without ccy:"),
    _should("7-10", 0, "AACP validators SHOULD warn on: Unknown extended field keys"),
    _must("7-11", 0, "Validation errors MUST be reported before transmission."),
    _should("7-12", 0, "Warnings SHOULD be logged …"),
    _must_not("7-13", 0, "… but MUST NOT prevent transmission."),
    _may("8-1", 0, "Decoders MAY expand packets into structured English for audit purposes or debugging."),
    _states("8-2", 0, "For audit purposes, the AACP packet itself is the canonical record."),
    _should(
        "9-1",
        0,
        "Embedding field lists and URI data pointers in packets … SHOULD be avoided where the receiving agent has "
        "default field definitions in its system configuration.",
        "As for 4.2-5: the caller says so by `fields=None`.",
    ),
    _may("13-1", 0, "Implementors MAY define organisation-private fields using a namespacing convention."),
    _may("13-2", 0, "Implementors MAY define domain values beyond the seven defined in Section 5.2."),
    _must("14-1", 0, "The aacp: field MUST be included in every packet and MUST specify the protocol version."),
    _should("14-2", 0, "Implementations SHOULD warn on version mismatch …"),
    _must_not("14-3", 0, "… but MUST NOT reject packets on version mismatch alone."),
    _must("15-1", 0, "AACP packets MUST be treated as untrusted input."),
    _must("15-2", 0, "Validators MUST be applied before processing."),
    _must_not("15-3", 0, "Implementations MUST NOT execute actions based on unvalidated packets."),
    _should("15-4", 0, "Implementations SHOULD sanitise field values before including them in LLM prompts."),
    _should("15-5", 0, "Field values SHOULD be treated as data, not instructions."),
    _should(
        "15-6",
        0,
        "Security-sensitive environments SHOULD add replay protection at the transport layer.",
        "A packet alone has none; within an ACCP frame it has that of the session.",
    ),
    _must_not(
        "15-7",
        0,
        "PII, financial records, and credentials MUST NOT be embedded in AACP field values.",
        "Encoders refuse what has the shape or the check digits of personal data or a credential; names of people are "
        "not found, and user names and amounts are in the draft's own packets. A validator warns, or forbids where it "
        "is told to.",
    ),
    _should("15-8", 0, "The registry file SHOULD be access-controlled …"),
    _should_not(
        "15-9",
        0,
        "… and SHOULD NOT be committed to version control when it contains sensitive workflow instructions.",
    ),
)

FAMILY: Final = Family(
    name="AACP",
    titles={0: "draft-mackay-aacp-01"},
    sections=frozenset(
        {
            *("4", "4.1", "4.2", "4.3", "4.4", "5.1", "5.2", "5.3", "6.1", "6.2", "6.3"),
            *("7", "8", "9", "13", "14", "15"),
        }
    ),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
