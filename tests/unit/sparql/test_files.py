"""Files of RDF as rows of graphs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from imp_driver.errors import NotSupportedError, OperationalError, ProgrammingError
from imp_driver.sparql import files
from imp_driver.sparql.files import format_of, read_batches

XSD = "http://www.w3.org/2001/XMLSchema#"
SAME = {
    "a.ttl": '@prefix a: <a:> . a:a a:p "x\\"y\\n"@EN , 1 .',
    "a.nt": f'<a:a> <a:p> "x\\"y\\n"@EN .\n<a:a> <a:p> "1"^^<{XSD}integer> .',
    "a.n3": '@prefix a: <a:> . a:a a:p "x\\"y\\n"@EN , 1 .',
    "a.nq": f'<a:a> <a:p> "x\\"y\\n"@EN .\n<a:a> <a:p> "1"^^<{XSD}integer> .',
    "a.trig": '{ <a:a> <a:p> "x\\"y\\n"@EN , 1 }',
    "a.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:"><rdf:Description rdf:about="a:a">'
    f'<a:p xml:lang="EN">x"y\n</a:p><a:p rdf:datatype="{XSD}integer">1</a:p></rdf:Description></rdf:RDF>',
    "a.jsonld": '{"@id": "a:a", "a:p": [{"@value": "x\\"y\\n", "@language": "EN"}, 1]}',
}


def _rows(path: Path, graph: str | None = None) -> list[tuple[str | None, ...]]:
    return [tuple(row.values()) for batch in read_batches(path, format_of(path), graph) for row in batch.to_pylist()]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("is_packed", [False, True])
def test_every_format_gives_the_same_terms(name: str, is_packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (f"{name}.GZ" if is_packed else name)
    path.write_bytes(gzip.compress(SAME[name].encode()) if is_packed else SAME[name].encode())
    wanted = [("<a:a>", "<a:p>", '"x"y\n"@en', "<a:g>"), ("<a:a>", "<a:p>", f'"1"^^<{XSD}integer>', "<a:g>")]
    assert _rows(path, "<a:g>") == wanted


def test_named_graphs_and_relative_names_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.trig"
    path.write_text("<b> <a:p> <a:c> . <a:g> { <a:a> <a:p> <a:b> } _:g { <a:a> <a:p> <a:b> }")
    found = _rows(path)
    beside = f"<{(tmp_path / 'b').as_uri()}>"
    assert found[:2] == [(beside, "<a:p>", "<a:c>", None), ("<a:a>", "<a:p>", "<a:b>", "<a:g>")]
    assert str(found[2][3]).startswith("_:g_")


def test_a_context_at_another_place_is_not_fetched(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text('{"@context": "https://a.example/", "@id": "a:a", "a:p": 1}')
    with pytest.raises(ProgrammingError, match=r"a\.jsonld: its @context is at another place, and nothing is fetched; write"):
        _rows(path)


def test_blank_nodes_of_two_readings_differ(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("_:x <a:p> _:x .\n")
    first, second = _rows(path), _rows(path)
    assert first[0][0] == first[0][2]
    assert str(first[0][0]).startswith("_:x_")
    assert first != second


def test_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH_ROWS", 4)
    path = tmp_path / "a.nt"
    path.write_text("".join(f"<a:{number}> <a:p> <a:b> .\n" for number in range(10)))
    batches = list(read_batches(path, "nt"))
    assert [batch.num_rows for batch in batches] == [4, 4, 2]
    assert [row for batch in batches for row in batch.column("s").to_pylist()] == [f"<a:{number}>" for number in range(10)]


def test_what_is_wrong_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<a:a> <a:p> <a:b> .\n<a:a> <a:p> nope:b .\n")
    with pytest.raises(ProgrammingError, match=r"The file a\.ttl, line 2: .*nope"):
        _rows(path)
    (tmp_path / "a.nt.gz").write_bytes(gzip.compress(b"<a:a> <a:p> <a:b> .\n" * 1000)[:40])
    with pytest.raises(OperationalError, match=r"a\.nt\.gz cannot be read"):
        _rows(tmp_path / "a.nt.gz")
    with pytest.raises(OperationalError, match="cannot be read: No such file"):
        _rows(tmp_path / "none.nt")


def test_triples_about_triples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<a:a> <a:p> <<( <a:a> <a:p> <a:b> )>> .")
    with pytest.raises(NotSupportedError, match=r"RDF 1\.2"):
        _rows(path)
