"""Which master and settings an embedded engine starts with."""

from __future__ import annotations

import pytest

from imp_driver.errors import InterfaceError
from imp_driver.spark.master import explain_master, master_of, with_conf
from imp_driver.values.options import Options

_OWN = {"spark.sql.shuffle.partitions": "2", "spark.jars": "delta.jar", "spark.driver.memory": "4g", "spark.ui.enabled": "false"}


def test_without_a_master_the_threads_are_of_this_process() -> None:
    options = Options(warehouse="w", cores=3)
    assert master_of(options) == "local[3]"
    assert with_conf(_OWN, options) == _OWN


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:6443"])
def test_a_master_is_passed_on(master: str) -> None:
    options = Options(warehouse="w", master=master, conf=(("spark.executor.memory", "2g"), ("spark.ui.enabled", "true")))
    assert master_of(options) == master
    expected = {"spark.jars": "delta.jar", "spark.driver.memory": "4g", "spark.ui.enabled": "true", "spark.executor.memory": "2g"}
    assert with_conf(_OWN, options) == expected


def test_threads_of_this_process_named_as_a_master_keep_the_settings() -> None:
    assert with_conf(_OWN, Options(warehouse="w", master="local[4]")) == _OWN


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("executor.memory", "begin with 'spark.'"),
        ("spark.master", "use master="),
        ("spark.driver.memory", "use driver_memory="),
        ("spark.jars", "set by the driver itself"),
    ],
)
def test_settings_that_a_connection_may_not_choose(name: str, words: str) -> None:
    with pytest.raises(InterfaceError, match=words):
        with_conf(_OWN, Options(warehouse="w", conf=((name, "x"),)))


def test_cores_and_a_master_exclude_each_other() -> None:
    with pytest.raises(InterfaceError, match=r"conf\.spark\.cores\.max"):
        master_of(Options(warehouse="w", master="yarn", cores=2))


def test_a_master_that_does_not_answer_is_named() -> None:
    error = explain_master("spark://host:1", RuntimeError("line\njava.lang.IllegalStateException: no.\n\tat x"))
    assert "spark://host:1: java.lang.IllegalStateException: no." in str(error)
