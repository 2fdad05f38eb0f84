"""Secrets of URLs and options: hidden in errors, their chain, log records with their tracebacks, reports, and every repr."""

from __future__ import annotations

import logging
import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

import imp_driver
from imp_driver.reasons import Decision, Reason
from imp_driver.url import options_from_url
from imp_driver.values.options import Options
from imp_driver.values.redaction import LOGGERS, is_secret, redacted, shown_url
from imp_driver.values.report import SketchReport
from tests.hostile import CHOSEN

SECRET = "hunter2"
NAMES = (
    "token",
    "password",
    "secret",
    "key",
    "api_key",
    "access.key",
    "fs.s3a.secret.key",
    "X-Amz-Signature",
    "sig",
    "AUTH",
    "accessKey",
    "pwd",
)
URLS = (
    f"imp://me:{SECRET}@/house",
    f"imp://me:{SECRET}@host/house",
    f"imp://{SECRET}@host:99999999/house",
    f"imp://me:{SECRET}@ho\u2100st/house",
    f"imp://me:{SECRET}@[::1/house",
    f"imp://me:pa/{SECRET}@host/house",
    f"imp://me:pa {SECRET}@host/house",
    f"imp://me:pa?{SECRET}@host/house",
    f"imp://me:pa#{SECRET}@host/house",
    f"imp:///house#{SECRET}",
    f"imp:///?token={SECRET}",
    f"postgresql://me:{SECRET}@host/house",
    f"imp+connect://me:{SECRET}@host:15002/x;token={SECRET}",
    f"sc://host:15002/;token={SECRET};user_id=me",
    *(f"imp:///house?{name}={SECRET}" for name in NAMES),
    *(f"imp:///house?to%6ben={SECRET}&sketch=wrong" for _ in "1"),
    f"imp:///house?token={SECRET}&token={SECRET}x",
    f"imp:///\x00house?token={SECRET}",
)


def everything(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("url", URLS)
def test_an_error_about_a_url_does_not_quote_its_secrets(url: str) -> None:
    with pytest.raises((imp_driver.InterfaceError, imp_driver.NotSupportedError)) as caught:
        options_from_url(url).check_deployment()
    assert SECRET not in repr(caught.value)
    # Of the traceback only the messages count: its lines of source are those of this test.
    chain = [str(each) for each in (caught.value, caught.value.__cause__, caught.value.__context__) if each is not None]
    if not caught.value.__suppress_context__:
        assert not any(SECRET in text for text in chain)


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_shown_without_secrets(url: str) -> None:
    assert SECRET not in shown_url(url)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)
    assert redacted(f"cannot reach s3a://bucket/t?a=b&{name}={SECRET}&c=d now") == f"cannot reach s3a://bucket/t?a=b&{name}=***&c=d now"


def test_other_text_stays() -> None:
    for text in (
        "SELECT a FROM t WHERE key = 5; -- monkey=1",
        "[TABLE] `a`.`keys` cannot be found; see https://spark.apache.org/x?y=1",
        "a@b.c",
    ):
        assert redacted(text) == text


def test_an_error_hides_what_it_is_given() -> None:
    error = imp_driver.OperationalError(f"Cannot open s3a://id:{SECRET}@bucket/t with Bearer {SECRET} now")
    assert str(error) == "Cannot open s3a://***@bucket/t with Bearer *** now"
    assert SECRET not in repr(error)


def test_the_detail_of_a_report_hides_it() -> None:
    report = SketchReport(Decision.NOT_USED, Reason.STORE_NOT_READABLE, f"s3a://id:{SECRET}@bucket/t is not a Delta table")
    assert report.detail == "s3a://***@bucket/t is not a Delta table"
    assert SECRET not in repr(report)


@dataclass(frozen=True, slots=True, repr=False)
class WithToken(Options):
    """What a deployment with a login adds."""

    token: str | None = None


def test_the_repr_of_options_hides_secrets_by_their_names() -> None:
    options = WithToken(warehouse="house").with_values({"token": SECRET, "fragments": 5})
    assert isinstance(options, WithToken)
    assert options.token == SECRET
    assert SECRET not in repr(options)
    assert "token=***" in repr(options)
    assert "warehouse='house'" in repr(options)
    assert "token=None" in repr(WithToken())
    assert SECRET not in repr(Options().with_values({"store": f"s3://id:{SECRET}@bucket/store?secret={SECRET}"}))


def test_every_logger_of_the_package_is_known() -> None:
    sources = (Path(imp_driver.__file__).parent).rglob("*.py")
    found = {name for path in sources for name in re.findall(r'getLogger\("(imp_driver[^"]*)"\)', path.read_text(encoding="utf-8"))}
    assert found == set(LOGGERS)


@pytest.mark.parametrize("name", LOGGERS)
def test_log_records_hide_secrets_of_message_and_traceback(caplog: pytest.LogCaptureFixture, name: str) -> None:
    log = logging.getLogger(name)
    with caplog.at_level(logging.WARNING, logger="imp_driver"):
        try:
            raise ValueError(f"no answer from sc://host/;token={SECRET}")
        except ValueError:
            log.warning("Failed at %s", f"s3a://id:{SECRET}@bucket", exc_info=True)
    formatted = logging.Formatter().format(caplog.records[0])
    assert "no answer from sc://host/;token=***" in formatted
    assert "Failed at s3a://***@bucket" in formatted


@pytest.mark.parametrize("secret", [text for text in CHOSEN if text.strip() and "***" not in text and len(text) < 200])
def test_no_secret_is_hostile_enough(secret: str) -> None:
    whole = f"secret {secret} secret"
    for url in (f"imp://me:{quote(whole, safe='')}@host/x", f"imp:///x?sketch=bad&token={quote(whole, safe='')}"):
        with pytest.raises(imp_driver.InterfaceError) as caught:
            options_from_url(url)
        assert whole not in str(caught.value)
        assert quote(whole, safe="") not in str(caught.value)


def test_an_engine_hides_them_and_still_connects_with_them() -> None:
    url = f"imp:///house?token={SECRET}&sketch=off"
    engine = sa.create_engine(url)
    assert SECRET not in repr(engine)
    assert SECRET not in str(engine.url)
    assert SECRET not in repr(engine.url.set(database="other"))
    assert "sketch=off" in repr(engine)
    assert engine.dialect.create_connect_args(engine.url)[1] == {"warehouse": "house", "token": SECRET, "sketch": "off"}
    assert SECRET in engine.url.render_as_string(hide_password=False)
    with pytest.raises(imp_driver.InterfaceError, match="Option 'token' is for") as caught:
        engine.raw_connection()
    assert SECRET not in everything(caught.value)
    engine.dispose()
