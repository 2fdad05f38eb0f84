"""Arguments of the command ``imp``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

import imp_driver
from imp_driver.cli.packages import what_to_install
from imp_driver.values.plain import plain

_OF_DASHBOARD = ("rich", "matplotlib")
_OF_OTHERS = ("rich",)
_SIZES = {"small": (1_000_000, 24), "medium": (4_000_000, 40), "large": (12_000_000, 48)}
"""Rows of the dashboard's table, and its queries."""
_DEMO_SIZES = """\
sizes, with what a first run takes about on two idle cores (a second one uses the table again):
  small    1 million rows, 24 queries    1 minute     0.2 GB on disk
  medium   4 million rows, 40 queries    2 minutes    0.5 GB on disk
  large   12 million rows, 48 queries    5 minutes    1.2 GB on disk
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 well, 1 failed or answers differ, 2 wrong usage."""
    parsed = _parser().parse_args(arguments)
    if parsed.command == "demo":
        _complete_demo(parsed)
    if parsed.command == "load":
        _check_load(parsed)
    logging.basicConfig(format="imp: %(message)s")
    try:
        return _run(parsed)
    except imp_driver.Error as error:
        print(plain(f"imp: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("imp: interrupted", file=sys.stderr)
        return 1


def _run(parsed: argparse.Namespace) -> int:
    if parsed.command == "metrics":
        from imp_driver.cli import metrics

        return metrics.run(parsed.url)
    if parsed.command == "sql":
        from imp_driver.cli.shell.run import run

        return run(parsed)
    is_dashboard = parsed.command == "demo" and not parsed.recursive and not parsed.clean
    needed = _OF_DASHBOARD if is_dashboard else _OF_OTHERS
    advice = what_to_install(f"imp {parsed.command}", needed, "demo" if parsed.command == "demo" else "cli")
    if advice is not None:
        print(advice, file=sys.stderr)
        return 1
    from rich.console import Console

    console = Console()
    if parsed.command == "demo":
        from imp_driver.cli import demo

        return demo.run(parsed, console)
    if parsed.command == "advise":
        from imp_driver.cli import advise

        return advise.run(parsed.url, console)
    from imp_driver.cli import graph_load, load

    return graph_load.run(parsed, console) if parsed.graph else load.run(parsed, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="imp", description="Exact acceleration of SQL on Spark.")
    parser.add_argument("--version", action="version", version=f"imp_driver {imp_driver.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands.add_parser("demo", help="run a dashboard on a synthetic table, plain and through the driver, and compare"))
    _add_sql(commands.add_parser("sql", help="a shell for SQL, or one run of a script, with the report under each result"))
    advise = commands.add_parser("advise", help="which clustering would make which of the recorded queries fast")
    advise.add_argument("url", help="for example imp:///folder")
    metrics = commands.add_parser("metrics", help="the counters of a warehouse in the text form of Prometheus")
    metrics.add_argument("url", help="for example imp:///folder")
    _add_load(
        commands.add_parser("load", help="write files of rows into a Delta table that is clustered by a column, or of RDF into a graph")
    )
    return parser


def _add_sql(sql: argparse.ArgumentParser) -> None:
    sql.add_argument("url", help="for example imp:///folder?sketch=lazy")
    script = sql.add_mutually_exclusive_group()
    script.add_argument(
        "-c", "--execute", dest="statements", action="append", metavar="STATEMENTS", help="run these and leave; may be given several times"
    )
    script.add_argument("-f", "--file", help="run the statements of a file and leave; without -c and -f a pipe is read, or a terminal")
    sql.add_argument(
        "--format", choices=("table", "csv", "json"), default="table", help="of results; csv and json leave messages to stderr"
    )
    sql.add_argument("--report", choices=("off", "short", "full"), default="short", help="on each query (default %(default)s)")


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.formatter_class = argparse.RawDescriptionHelpFormatter
    demo.epilog = _DEMO_SIZES
    demo.add_argument(
        "--recursive", action="store_true", help="instead a network that loses links, and a recursive view of who reaches whom"
    )
    large = demo.add_mutually_exclusive_group()
    large.add_argument("--size", choices=list(_SIZES), help="of the dashboard's table, see below (default medium)")
    large.add_argument("--rows", type=_positive, help="or its rows as a number")
    demo.add_argument("--queries", type=_positive, help="queries of the dashboard (default by size), or readings of the view (default 32)")
    demo.add_argument("--warehouse", default="demo-warehouse", help="folder of the data (default %(default)s)")
    demo.add_argument("--result", default="demo-result", help="folder of the dashboard's picture (default %(default)s)")
    demo.add_argument("--seed", type=int, default=7, help="seed of the constants, or of the network (default %(default)s)")
    demo.add_argument("--clean", action="store_true", help="remove what the demo has left in these two folders, and nothing else")
    demo.set_defaults(refuse=demo.error)


def _add_load(load: argparse.ArgumentParser) -> None:
    load.add_argument("url", help="for example imp:///folder")
    load.add_argument("table", help="name of the table")
    load.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=".csv (with a header), .parquet, .json, .jsonl or .ndjson, all of one kind, or folders of them, also with folders named "
        "column=value; with --graph .ttl, .nt, .nq, .trig, .rdf, .jsonld",
    )
    into = load.add_mutually_exclusive_group()
    into.add_argument("--cluster-by", metavar="COLUMN", help="column that sketches are to be on, such as a group key")
    into.add_argument("--graph", action="store_true", help="the table is a graph, and the files are of RDF")
    load.add_argument("--format", help="format of files of RDF, as an ending (default: by their names)")
    load.add_argument(
        "--separator", metavar="CHARACTER", help="between the values of a row of CSV, such as ';'; tab stands for that one (default ,)"
    )
    load.add_argument("--files", dest="number", type=_positive, metavar="N", help="files to write (default: by size)")
    load.add_argument(
        "--dry-run", action="store_true", help="show the types of the columns and how many files there would be; write nothing"
    )
    how = load.add_mutually_exclusive_group()
    how.add_argument("--replace", dest="how", action="store_const", const="replace", help="put the rows in the place of an existing table")
    how.add_argument("--append", dest="how", action="store_const", const="append", help="add the rows to an existing table")
    load.set_defaults(how="create", refuse=load.error)


def _complete_demo(parsed: argparse.Namespace) -> None:
    """Refuse options that would have no effect, and give the others their defaults."""
    sizes = parsed.rows is not None or parsed.size is not None
    if parsed.recursive and not parsed.clean and (sizes or parsed.result != "demo-result"):
        parsed.refuse("--rows, --size and --result are those of the dashboard, not of --recursive")
    if parsed.clean and (sizes or parsed.queries is not None):
        parsed.refuse("--clean removes what is there, whatever its size: leave --rows, --size and --queries out")
    rows, queries = _SIZES[parsed.size or "medium"]
    parsed.queries = parsed.queries or (32 if parsed.recursive else queries)
    parsed.rows = parsed.rows or rows


def _check_load(parsed: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    if parsed.graph and (parsed.dry_run or parsed.number is not None or parsed.separator is not None or parsed.how != "create"):
        parsed.refuse("--dry-run, --files, --separator, --replace and --append are those of tables, not of --graph")
    if parsed.format is not None and not parsed.graph:
        parsed.refuse("--format is that of files of RDF, with --graph; those of tables go by the endings of their names")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, not {text!r}")
    return int(text)
