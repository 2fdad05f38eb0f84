"""Units of TRUNC and DATE_TRUNC mean what is written, also after a change of the tree."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.functions import check_function
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


@pytest.mark.parametrize("text", ["TRUNC(d, 'Q')", "TRUNC(d, 'MM')", "DATE_TRUNC('Q', z)", "DATE_TRUNC('W', z)", "DATE_TRUNC('MONTH', z)"])
def test_a_unit_is_kept(text: str) -> None:
    assert sqlglot.parse_one(text, read=SparkText).copy().sql(dialect=SparkText) == text


@pytest.mark.parametrize("text", ["trunc(d, u)", "date_trunc(u, z)", "date_trunc(:unit, z)", "trunc(m)"])
def test_a_unit_that_is_no_text_is_not_followed(text: str) -> None:
    node = sqlglot.parse_one(text, read=SparkText)
    assert isinstance(node, exp.Func)
    with pytest.raises(Refused) as caught:
        check_function(node)
    assert caught.value.reason is Reason.UNKNOWN_FUNCTION
