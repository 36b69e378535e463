"""Which tests show which requirement, below `tests/`; a name of a parametrised test means all of its cases."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["SHOWN_BY"]

STORIES: Final = "conformance/test_stories.py"
VECTORS: Final = "conformance/test_vectors.py"
BUDGET: Final = "core/accp/test_budget.py"
CHECKPOINT: Final = "core/accp/state/test_checkpoint.py"
CODEC: Final = "core/accp/codec/test_codec.py"
DEBUG: Final = "core/accp/debug/test_debug.py"
DELIVERY: Final = "core/accp/session/test_delivery.py"
EXCHANGE: Final = "core/accp/session/test_exchanges.py"
LEVELS: Final = "conformance/test_levels.py"
SESSION: Final = "core/accp/session/test_session.py"
KEYS: Final = "core/accp/test_keys.py"
NEGOTIATION: Final = "core/accp/session/test_negotiation.py"
PARSER: Final = "core/accp/test_parser.py"
PROFILES: Final = "core/accp/test_profiles.py"
SERVED: Final = "conformance/test_served.py"
FOREIGN: Final = "foreign"
SCHEMA: Final = "core/accp/test_schema.py"
SERIALIZER: Final = "core/accp/test_serializer.py"
STATE: Final = "core/accp/state/test_context_state.py"
STREAMS: Final = "core/accp/session/test_streams.py"
VALUES: Final = "core/accp/test_values.py"
HOSTILE: Final = "core/test_security.py"
PAYLOADS: Final = "properties/test_codec.py"
DELTAS: Final = "properties/test_delta.py"
ROUNDTRIP: Final = "properties/test_frame_roundtrip.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "3.1.1-1": (
            f"{SERIALIZER}::test_a_decimal_is_written_without_exponent_and_spare_zeros",
            f"{VECTORS}::test_a_value_is_written_and_read_as_this_text[3.1.1-numbers*",
            f"{VECTORS}::test_a_frame_is_written_as_this_text[3.1.1-numbers*",
            f"{ROUNDTRIP}::test_rounded_decimals_stay_rounded",
        ),
        "3.1.1-2": (
            f"{SERIALIZER}::test_a_decimal_is_written_without_exponent_and_spare_zeros",
            f"{VECTORS}::test_a_value_is_written_and_read_as_this_text[3.1.1-numbers*",
        ),
        "3.3-1": (
            f"{VECTORS}::test_a_refused_text_is_refused_with_this_code_at_this_place",
            f"{VECTORS}::test_a_value_is_written_and_read_as_this_text[3.1.1-strings*",
            f"{ROUNDTRIP}::test_what_is_written_in_ascii_is_literal_abnf",
        ),
        "3.3-2": (
            f"{KEYS}::test_table_8_shortens_and_expands",
            f"{KEYS}::test_an_alias_goes_before_table_8",
        ),
        "3.3-3": (f"{LEVELS}::test_symbols_stand_for_themselves",),
        "3.3-4": (
            f"{VALUES}::test_over_fifty_characters_is_long",
            f"{CODEC}::test_long_values_leave_as_references_where_a_store_is_shared",
            f"{CODEC}::test_long_values_stay_where_no_store_is_shared_and_that_is_noted",
            f"{PAYLOADS}::test_a_message_survives_a_shared_store",
        ),
        "3.3-5": (
            f"{CODEC}::test_defaults_are_left_out_in_type_as_well",
            f"{CODEC}::test_a_failure_is_neither_shortened_nor_filled",
        ),
        "3.3-6": (f"{VECTORS}::test_a_value_is_written_and_read_as_this_text[3.1-values*",),
        "3.4-1": (
            f"{CODEC}::test_a_frame_over_its_limits_leaves_in_chunks_that_keep_them",
            f"{FOREIGN}/test_long_messages.py::test_a_long_answer_is_read_over_http",
            f"{BUDGET}::test_the_draft_limits_are_those_of_table_3",
            f"{BUDGET}::test_body_and_total_must_fit_and_the_rest_is_telemetry",
            f"{PAYLOADS}::test_a_message_survives_in_pieces_of_any_size_and_order",
        ),
        "3.5-2": (
            f"{LEVELS}::test_every_frame_that_is_sent_has_an_id_a_number_and_the_time",
            f"{LEVELS}::test_ids_are_unique_and_numbers_rise_one_by_one",
        ),
        "3.5-3": (
            f"{LEVELS}::test_ids_are_unique_and_numbers_rise_one_by_one",
            f"{FOREIGN}/test_sequence.py::test_a_peer_may_count_for_both_ends_or_for_itself",
        ),
        "3.5-4": (
            f"{LEVELS}::test_every_frame_that_is_sent_has_an_id_a_number_and_the_time",
            f"{LEVELS}::test_a_frame_without_time_that_can_expire_is_refused",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.5-5": (f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.6-errors*",),
        "3.5-7": (
            f"{SESSION}::test_the_session_sets_sender_id_number_time_ttl_and_its_name",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.5-8": (
            f"{SESSION}::test_the_session_sets_sender_id_number_time_ttl_and_its_name",
            f"{DELIVERY}::test_a_frame_expires_after_the_last_second_of_its_ttl",
        ),
        "3.5-6": (
            f"{SERIALIZER}::test_a_whole_frame_is_written",
            f"{PARSER}::test_a_whole_frame_is_read",
        ),
        "3.5-1": (
            f"{LEVELS}::test_every_frame_that_is_sent_has_an_id_a_number_and_the_time",
            f"{SERVED}::test_a_session_takes_the_frame_of_an_mcp_result",
            f"{SERVED}::test_a_session_takes_the_chunks_of_an_a2a_artifact",
        ),
        "3.5-9": (f"{DELIVERY}::test_a_frame_expires_after_the_last_second_of_its_ttl",),
        "3.5-10": (f"{DELIVERY}::test_a_frame_without_id_or_number_is_refused_with_e1001",),
        "3.7-1": (
            f"{DELIVERY}::test_what_an_inbox_keeps_is_bounded",
            f"{DELIVERY}::test_an_id_that_is_forgotten_is_refused_by_its_number_with_e3002",
        ),
        "3.7-2": (
            f"{DELIVERY}::test_an_id_that_was_seen_is_refused_with_e3002_even_with_a_new_number",
            f"{SERVED}::test_a_served_session_refuses_a_repeated_id",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.7-3": (
            f"{DELIVERY}::test_frames_that_come_early_are_held_and_released_in_order",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.7-4": (
            f"{DELIVERY}::test_a_number_that_is_not_the_next_is_refused_with_e3003_and_not_remembered",
            f"{FOREIGN}/test_sequence.py::test_another_number_is_refused_at_once_with_what_was_expected",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.7-5": (
            f"{DELIVERY}::test_a_request_is_sent_again_as_often_as_it_may_be",
            f"{DELIVERY}::test_after_a_retryable_error_a_request_is_sent_again_soon",
        ),
        "3.7-6": (
            f"{EXCHANGE}::test_a_cancel_stops_all_that_the_chain_caused_in_any_order",
            f"{EXCHANGE}::test_nothing_of_a_cancelled_chain_passes_even_when_the_chain_is_forgotten",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "3.7-7": (
            f"{DELIVERY}::test_an_expired_frame_in_its_turn_is_counted_and_one_out_of_turn_is_not",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
        ),
        "4.3-1": (
            f"{VECTORS}::test_an_accepted_text_says_this_frame[3.1-frame: an operation nobody registered]",
            f"{SCHEMA}::test_operations_are_registered_beside_the_core_ones",
        ),
        "5.2-1": (
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[5-state*",
            f"{CHECKPOINT}::test_an_intent_that_ends_something_is_a_trigger",
            f"{SERVED}::test_a_served_session_takes_a_checkpoint_of_this",
        ),
        "5.2-2": (
            f"{CHECKPOINT}::test_over_400_tokens_of_hot_state_are_a_trigger_and_400_are_not",
            f"{FOREIGN}/test_checkpoints.py::test_a_checkpoint_is_taken_when_hot_state_is_large",
            "adapters/bindings/accp/test_http_endpoint.py::test_a_checkpoint_is_taken_at_an_answer_and_where_hot_state_is_full",
        ),
        "5.2-3": (
            f"{CHECKPOINT}::test_an_intent_that_ends_something_is_a_trigger",
            f"{SERVED}::test_a_served_session_takes_a_checkpoint_of_this",
        ),
        "5.2-4": (
            f"{CHECKPOINT}::test_there_are_five_triggers_and_a_phase_boundary_is_the_harness_own",
            f"{SERVED}::test_a_served_session_takes_a_checkpoint_of_this",
        ),
        "5.2-5": (
            f"{CHECKPOINT}::test_an_intent_that_ends_something_is_a_trigger",
            f"{SERVED}::test_a_served_session_takes_a_checkpoint_of_this",
        ),
        "5.4-1": (
            f"{SESSION}::test_a_shared_context_is_told_by_what_changed",
            f"{STATE}::test_a_delta_says_how_to_come_from_one_context_to_another",
            f"{DELTAS}::test_a_delta_is_no_more_than_what_changed",
        ),
        "6.4-1": (
            f"{NEGOTIATION}::test_equal_registries_agree_by_their_hashes",
            f"{FOREIGN}/test_long_messages.py::test_the_registry_is_read_over_http",
            f"{FOREIGN}/test_long_messages.py::test_the_registry_is_read_over_a_web_socket",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.6-errors*",
        ),
        "7.1-1": (f"{PAYLOADS}::test_any_payload_survives_type_for_type_under_every_schema",),
        "7.1-2": (f"{PAYLOADS}::test_any_text_is_decoded_or_refused_with_a_code",),
        "7.1-3": (f"{CHECKPOINT}::test_no_summary_has_over_100_tokens_and_no_warm_entry_over_200",),
        "7.1-4": (f"{SESSION}::test_the_budget_counts_what_was_sent_and_what_is_kept",),
        "7.1-5": (
            f"{CODEC}::test_a_schema_is_registered_as_a_value_or_as_its_json",
            f"{SCHEMA}::test_a_schema_that_conflicts_with_a_known_one_is_refused_e5001",
        ),
        "8.1-1": (
            f"{VECTORS}::test_an_accepted_text_says_this_frame",
            f"{VECTORS}::test_an_accepted_frame_is_written_canonically",
            f"{VECTORS}::test_a_value_is_written_and_read_as_this_text",
            f"{VECTORS}::test_a_frame_is_written_as_this_text",
            f"{VECTORS}::test_a_frame_that_has_no_text_is_refused_with_this_code",
            f"{ROUNDTRIP}::test_a_frame_survives_type_for_type_strictly_and_with_errata",
            f"{ROUNDTRIP}::test_a_frame_survives_in_ascii",
            "core/test_error_codes.py::test_a_code_has_the_name_and_the_retry_rule_of_table_6",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.6-errors*",
        ),
        "8.1-2": ("core/accp/test_vocabulary.py::test_the_intents_are_those_of_table_7_and_the_heartbeat",),
        "8.1-3": (f"{KEYS}::test_table_8_shortens_and_expands",),
        "8.2-1": (
            f"{STATE}::test_a_reference_stands_for_the_value_in_its_tier",
            f"{STATE}::test_hot_state_over_its_budget_is_refused_with_e2003_and_at_its_budget_kept",
            f"{STATE}::test_an_entry_past_its_lifetime_is_refused_with_e2002",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[5-state*",
        ),
        "8.2-2": (f"{CHECKPOINT}::test_hot_state_becomes_a_warm_summary_a_cold_text_and_a_reference",),
        "8.2-3": (
            f"{SCHEMA}::test_a_schema_is_written_and_read",
            f"{SCHEMA}::test_an_unknown_schema_is_refused_e1003",
            f"{PROFILES}::test_a_built_in_schema_is_as_the_draft_has_it",
        ),
        "8.3-1": (
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[5-state*",
            f"{STATE}::test_a_delta_must_be_of_the_next_version",
            f"{DELTAS}::test_a_difference_makes_the_new_value_of_the_old_one",
            f"{DELTAS}::test_a_delta_survives_the_wire_and_raises_the_version",
        ),
        "8.3-2": (
            f"{SESSION}::test_two_ends_open_a_session_with_their_registries",
            f"{NEGOTIATION}::test_a_peer_with_other_schemas_is_told_all_once_and_both_know_both_afterwards",
            f"{NEGOTIATION}::test_two_that_speak_at_once_agree_and_fall_silent",
            f"{PAYLOADS}::test_agents_that_merge_agree_or_both_refuse",
        ),
        "8.3-3": (
            f"{SESSION}::test_a_message_over_the_limits_travels_in_pieces_and_arrives_whole",
            f"{CODEC}::test_what_fits_no_frames_is_refused_e2003",
            f"{CODEC}::test_a_chunk_over_its_limits_is_refused_all_the_same_e2003",
        ),
        "8.3-4": (
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[3.7-delivery*",
            f"{STREAMS}::test_chunks_are_given_out_in_the_order_of_their_indices",
            f"{STREAMS}::test_streams_do_not_mix_and_are_forgotten_when_they_end",
        ),
        "9-1": (
            f"{LEVELS}::test_debug_mode_*",
            f"{DEBUG}::test_no_secret_reaches_the_record",
            f"{DEBUG}::test_a_frame_is_described_in_words_with_full_keys_and_a_date",
            f"{DEBUG}::test_what_the_frame_does_not_hold_is_said_with_the_reason",
            "adapters/cli/test_debug.py::test_with_debug_each_frame_is_said_in_words_on_standard_error",
            "adapters/cli/test_debug.py::test_each_frame_that_is_served_is_said",
            "adapters/cli/test_debug.py::test_each_frame_of_a_proxy_is_said",
        ),
        "9-2": (
            f"{VECTORS}::test_a_refused_text_is_refused_with_this_code_at_this_place",
            f"{ROUNDTRIP}::test_the_recogniser_knows_every_ascii_frame_that_is_read_strictly",
            f"{ROUNDTRIP}::test_what_is_read_strictly_is_read_alike_with_errata",
        ),
        "9-3": (
            f"{LEVELS}::test_a_malformed_frame_changes_nothing_in_the_session",
            f"{VECTORS}::test_a_refused_text_is_refused_with_this_code_at_this_place",
            f"{ROUNDTRIP}::test_any_text_is_read_or_refused_at_a_place_in_it",
            f"{PARSER}::test_a_text_that_is_no_frame_is_refused",
        ),
        "9-4": (
            f"{LEVELS}::test_no_spelling_of_a_reference_leaves_the_session",
            f"{STORIES}::test_a_session_reports_and_answers_this_at_each_step[5-state*",
            f"{STATE}::test_a_cold_text_of_another_session_needs_a_grant_or_is_refused_with_e5002",
            f"{STATE}::test_a_cold_reference_names_the_text_of_its_own_session",
        ),
        "9-5": (
            f"{SCHEMA}::test_a_registry_that_was_changed_on_its_way_is_refused_e5001",
            f"{SCHEMA}::test_no_peer_redefines_a_pinned_schema_e5001",
            f"{NEGOTIATION}::test_a_registry_that_was_tampered_with_is_refused_with_e5001",
        ),
        "9-6": (
            f"{PARSER}::test_a_hostile_text_is_refused",
            f"{VECTORS}::test_a_refused_text_is_refused_with_this_code_at_this_place",
            f"{HOSTILE}::test_a_hostile_input_ends_as_it_must_after_bounded_work",
        ),
        "9-7": (
            f"{PARSER}::test_a_hostile_text_is_refused",
            f"{HOSTILE}::test_a_hostile_input_ends_as_it_must_after_bounded_work",
            f"{HOSTILE}::test_a_hostile_input_takes_memory_in_proportion",
            "core/test_floods.py::test_a_flood_leaves_a_bounded_session_that_still_refuses_by_code",
        ),
        "10.2-1": (
            f"{PROFILES}::test_a_tools_answer_says_which_request_it_answers_e1001",
            f"{SERVED}::test_a_session_takes_the_frame_of_an_mcp_result",
        ),
        "10.2-2": (
            f"{PROFILES}::test_a_failed_tool_answers_with_e4002",
            f"{PROFILES}::test_a_tool_fails_with_schema_er_e4003",
        ),
        "10.3-1": (
            f"{PROFILES}::test_a_retry_keeps_its_transaction_e5001",
            f"{SESSION}::test_a_transaction_keeps_its_id_over_retries_or_is_refused_with_e5001",
        ),
        "10.3-2": (f"{PROFILES}::test_an_amount_is_a_number_or_stands_elsewhere",),
        "10.3-3": (f"{CODEC}::test_defaults_are_left_out_in_type_as_well",),
        "10.3-4": (f"{PROFILES}::test_a_retry_has_a_new_msg_id_e3002",),
        "10.4-1": (
            f"{SERVED}::test_a_session_takes_the_chunks_of_an_a2a_artifact",
            f"{PROFILES}::test_a_chunk_says_which_stream_it_belongs_to_e1001",
            f"{CODEC}::test_chunks_share_the_correlation_of_their_message",
        ),
        "10.4-2": (
            f"{STREAMS}::test_the_total_ends_a_stream_as_well",
            f"{STREAMS}::test_closing_ends_a_stream_that_nobody_called_final",
        ),
        "10.4-3": (
            f"{STREAMS}::test_chunks_are_given_out_in_the_order_of_their_indices",
            f"{STREAMS}::test_too_many_waiting_chunks_are_refused_e2003_but_not_the_next_one",
        ),
    }
)
"""Requirement to the tests that show it; a trailing `*` means all that begin so."""
