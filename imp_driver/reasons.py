"""Every stable code with which the driver says what it did about a sketch, and why. docs/reasons.md lists them all; a test compares."""

from __future__ import annotations

from enum import Enum


class Decision(Enum):
    """What the driver did about a sketch for one SELECT."""

    CAPTURED = "captured"
    FRESH = "fresh"
    MAINTAINED = "maintained"
    RECAPTURED = "recaptured"
    NOT_USED = "not used"


class Reason(Enum):
    """Why. The name is the stable code; the value is one sentence for people."""

    ANSWERED = "the rows come from what the driver maintains, without Spark"
    FILTERED = "the query ran with the range filter of its sketch"
    COVERS_ALMOST_ALL = "the sketch would save next to nothing of what the query reads"
    NOT_EXACT = "a value of the groups that are asked for is not known exactly"
    ERRORS_IN_GROUPS = "a row of the groups that are asked for divides by zero, which Spark decides"
    LEFT_TO_SPARK = "something above the groups is computed by Spark alone"
    LIFT_NEEDED = "the columns of conditions with changing constants become keys of the groups first; these are captured in the background"
    LIFT_TOO_LARGE = "with the columns of its changing conditions among the keys the groups would be too many"
    OFF_GRANULE = "a constant lies within a year, month, day or hour of the groups; they are made finer when that happens again"
    ROWS_NEEDED = "the different rows of the query's tables are kept first; they are captured in the background"
    SKETCH_OFF = "sketches are switched off for this connection"
    NOT_A_QUERY = "the statement is not a SELECT"
    NOT_PARSED = "the parser does not know this text; Spark ran it unchanged"
    NO_AGGREGATION = "the query has no GROUP BY block that a sketch could stand for"
    ROWS_WITHOUT_GROUPS = "some rows of the query come from a table without being grouped"
    NO_FILTER_ABOVE_GROUPS = "nothing filters the groups (no HAVING, no ORDER BY with LIMIT), so every row matters"
    SCALAR_AGGREGATE = "an aggregate without GROUP BY has no group key to sketch on"
    SUBQUERY = "a subquery stands where it cannot be analysed or maintained"
    CORRELATED_SUBQUERY = "a subquery reads columns of the query around it in a way that no rule covers"
    RECURSION = "the query is recursive in a way that this path does not compute; UNION ALL is Spark's own"
    RECURSION_BY_SPARK = (
        "Spark computed the recursion round by round, or followed rows that it keeps: in process it is too large, not known or not wanted"
    )
    GROUPING_SETS = "groups by several sets of keys (ROLLUP, CUBE, GROUPING SETS) are not cut, or not of a form with a rule"
    WINDOW_FUNCTION = "the query has a window function"
    SAMPLE = "TABLESAMPLE differs from run to run"
    TABLE_FUNCTION = "the query reads a table function, VALUES or LATERAL VIEW"
    TIME_TRAVEL = "the query asks for versions of its tables in a way that the driver does not follow"
    OLD_VERSION = "no sketch of the version that is asked for is kept, and for an old version none is captured; a recursion at a version"
    LIMIT_WITHOUT_ORDER = "LIMIT without ORDER BY may return any rows"
    ORDER_NOT_TOTAL = "an order that picks or numbers rows (LIMIT, row_number) may tie, and ties cannot be checked where it stands"
    TIE_AT_LIMIT = "at this table version rows may tie where ORDER BY with LIMIT ends, so its answer is not determined"
    NON_DETERMINISTIC = "a function's result depends on time, chance, session or row order"
    UNKNOWN_FUNCTION = "there is no rule for a function"
    UNSUPPORTED_EXPRESSION = "an expression is outside what the analysis understands"
    AMBIGUOUS_NAME = "a name could mean a column or an alias"
    QUALIFIED_COLUMN = "a column is qualified by schema or is a hidden metadata column"
    NOT_SAFE = "no cut of the query is proven to leave its rows the same"
    READ_TWICE = "a WITH query or a value is read more than once, and not every reading has a sketch on the same column"
    NO_PLAIN_GROUP_KEY = "no group key is a plain column of a type that can be cut into ranges"
    UNSUPPORTED_AGGREGATE = "the groups are filtered or ordered by an aggregate that is not maintained"
    NOT_A_DELTA_TABLE = "the relation is not a Delta table"
    MALFORMED_TERM = "a graph has a value that is no term of RDF where it stands; rows that SQL wrote into its table may be so"
    TEMPORARY_VIEW = "the relation is a temporary view"
    VIEW = "the view means something else than its text would in this session"
    NOT_PERMITTED = "this connection may not read a table or view of the query"
    STORE_NOT_READABLE = "the table's storage cannot be read in process"
    NOT_CLUSTERED = "the files are not clustered by any safe attribute, so ranges would skip nothing; cluster the table by a group key"
    CAPTURE_DEFERRED = "a state that may serve these constants alone, or little, is captured when it is asked for again"
    ASKED_ONCE = "few of the last queries were asked again; groups are captured when this one is"
    RECAPTURE_DEFERRED = "only a new capture would do after this change; it is made when the same versions are asked for again"
    MAINTENANCE_DEFERRED = (
        "to bring the sketch up to date would cost more than it saves; it is done when the same versions are asked for again"
    )
    GIVEN_UP = (
        "the state has cost more than it saved, and its upkeep still does; it is tried again ever more rarely, or at once when more "
        "queries ask for the same versions or less of its tables changes"
    )
    NOT_FOLLOWED = "the groups are those of a view with POLICY STRICT, and a change could not be followed"
    NOT_SUPPOSED = "the changes of a WHAT IF cannot be followed in process, so that Spark computes the query over them"
    CAPTURE_FAILED = "the capture query failed; the query ran unchanged"
    STATE_TOO_LARGE = "the state of the template would exceed its memory budget"
    TABLE_CHANGED_MEANWHILE = "the table was dropped, recreated or restored while the sketch was prepared"
    TEMPLATE_DISABLED = "the guard saw other rows with a sketch of this template than without; it is not sketched again"
    UNSUPPORTED_SETTING = "the session has a setting under which names or positions mean something else than the analysis assumes"
    UNSUPPORTED_PARAMETER = "a parameter's type has no exact literal form"
    INTERNAL = "the driver met something unexpected while preparing the sketch; the query ran unchanged"


BESIDE_GROUPS = frozenset({Reason.LIFT_NEEDED, Reason.OFF_GRANULE, Reason.ROWS_NEEDED, Reason.ASKED_ONCE, Reason.RECURSION_BY_SPARK})
"""Why a query runs in Spark once, or some times, and nothing else is tried: groups for all its constants, or its rows, are there or are
captured, or it is a recursion that is computed there."""


class ServedBy(Enum):
    """Where the rows of a SELECT came from."""

    STATE = "groups that the driver maintains"
    STATE_AND_SPARK = "Spark, which had the groups that the driver maintains in the place of tables"
    SPARK_BY_ROUNDS = "Spark, in the rounds of a recursion that the driver leads"
    SKETCH = "Spark, which read what a sketch had left"
    SPARK = "Spark alone"


class RecaptureReason(Enum):
    """Why state was thrown away and captured again instead of being maintained."""

    TABLE_REPLACED = "the table was dropped and recreated, or a column that is read became another one"
    RESTORED = "the table was restored or overwritten"
    HISTORY_GONE = "the history between the sketch and now is no longer there"
    DELTA_TOO_LARGE = "so many rows changed that capturing again is cheaper"
    COSTS_MORE = "by the times of the last steps, capturing again is cheaper than maintaining"
    INEXACT_STATE = "minimum or maximum buffers ran dry for many groups"
    ROW_COUNT_DIFFERS = "the maintained row count does not match the table; the change feed was incomplete"
    CHANGES_CONTRADICT = "the changes take away rows or values that the state does not have; the change feed was incomplete"
    CHANGES_UNREADABLE = "the changes could not be read"
    POLICY_FULL = "the rows are those of a view with POLICY FULL, and a table changed"
    NOT_INCREMENTAL = "a table changed that the groups depend on in a way that is not maintained"


class DeltaSource(Enum):
    """Where the signed rows of a maintenance step came from."""

    NONE = "no data changed"
    CHANGE_FEED = "change data feed, read in process"
    ADDED_FILES = "added files, read in process"
    CHANGED_FILES = "added and removed files and deletion vectors, compared in process"
    SPARK_CHANGE_FEED = "change data feed, read by Spark"
    SPARK_FILES = "added and removed files, read by Spark"
    SUPPOSED = "changes of a WHAT IF, which nobody has made"
