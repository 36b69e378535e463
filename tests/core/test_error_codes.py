"""The tables of ACCP section 3.6."""

import pytest

from accp_core.error_codes import ERROR_CODES, ErrorCategory, ErrorCode

TABLE_6 = """
E1001 PARSE_ERROR No
E1002 INVALID_INTENT No
E1003 UNKNOWN_SCHEMA No
E1004 INVALID_TYPE No
E2001 REF_NOT_FOUND No
E2002 REF_EXPIRED No
E2003 BUDGET_EXCEEDED No
E3001 TIMEOUT Yes
E3002 DUPLICATE No
E3003 SEQUENCE_GAP Yes
E4001 TOOL_NOT_FOUND No
E4002 TOOL_EXEC_FAILED Yes
E4003 TOOL_SCHEMA_MISMATCH No
E5001 POLICY_DENIED No
E5002 UNAUTHORIZED_REF No
E9999 INTERNAL_ERROR Yes
"""
ROWS = [tuple(row.split()) for row in TABLE_6.strip().splitlines()]


@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize(("code", "name", "retryable"), ROWS)
def test_a_code_has_the_name_and_the_retry_rule_of_table_6(code: str, name: str, retryable: str) -> None:
    assert ErrorCode(code).name == name
    assert ErrorCode(code).retryable == (retryable == "Yes")


def test_table_6_has_no_other_code() -> None:
    assert [code.value for code in ErrorCode] == [code for code, _, _ in ROWS]


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("E1004", "Parse / grammar errors"),
        ("E2001", "State store errors"),
        ("E3003", "Transport / delivery errors"),
        ("E4001", "Tool / MCP errors"),
        ("E5002", "Policy / authorization errors"),
        ("E9999", "Internal / unknown errors"),
    ],
)
def test_a_code_belongs_to_the_category_of_its_range(code: str, category: str) -> None:
    assert ErrorCode(code).category == ErrorCategory(category)


def test_a_code_is_the_text_that_stands_on_the_wire() -> None:
    assert f"{ErrorCode.DUPLICATE}" == "E3002"


def test_every_code_has_a_meaning_and_a_section() -> None:
    assert set(ERROR_CODES) == set(ErrorCode)
    assert all(code.meaning and ERROR_CODES[code].section for code in ErrorCode)
