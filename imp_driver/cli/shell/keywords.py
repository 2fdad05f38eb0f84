"""Words that completion offers: those of Spark's SQL and of the driver's own statements."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


KEYWORDS = _words(
    """
    ADD ADVISE AFTER ALL ALTER ANALYZE AND ANSWERS ANTI ANY ARRAY AS ASC ASK AT BEGIN BETWEEN BIGINT BINARY BOOLEAN BY CACHE CASCADE
    CASE CAST CLUSTER COLUMN COLUMNS COMMENT COMMIT CONSTRAINT CONSTRUCT CREATE CROSS CUBE CURRENT DATABASE DATABASES DATE DECIMAL
    DEFAULT DELETE DELTA DESC DESCRIBE DETAIL DISTINCT DOUBLE DROP ELSE END EVERY EXCEPT EXISTS EXPLAIN EXTENDED FALSE FILTER FIRST
    FLOAT FOLLOWING FOR FROM FULL FUNCTION FUNCTIONS GENERATED GRANT GRAPH GRAPHS GROUP GROUPING HAVING HISTORY IF ILIKE IN
    INCREMENTAL INNER INSERT INT INTERSECT INTERVAL INTO IS JOIN LAST LATERAL LEFT LIKE LIMIT MAP MATCHED MATERIALIZED MERGE MINUS
    NATURAL NOT NULL NULLS OFFSET ON OPTIMIZE OR ORDER OUTER OVER OVERWRITE PARTITION PARTITIONED POLICY PRECEDING PREFIX PROPERTIES
    QUALIFY RANGE RECURSIVE REFRESH RENAME REPLACE RESTORE RIGHT RLIKE ROLLBACK ROLLUP ROW ROWS SCHEMA SCHEMAS SECONDS SELECT SEMI
    SET SETS SHOW SKETCH SKETCHES SMALLINT SPARQL START STATE STATES STRICT STRING STRUCT TABLE TABLES TBLPROPERTIES TEMPORARY THEN
    TIMESTAMP TIMESTAMP_NTZ TINYINT TO TRANSACTION TRUE TRUNCATE UNBOUNDED UNION UNIQUE UPDATE USE USING VACUUM VALUES VERSION VIEW
    VIEWS WHAT WHEN WHERE WHY WINDOW WITH ZORDER
    """
)
FUNCTIONS = _words(
    """
    abs any_value approx_count_distinct array_agg avg ceil coalesce collect_list collect_set concat concat_ws count count_if
    cume_dist current_date current_timestamp date_add date_diff date_format date_sub date_trunc day dense_rank explode extract
    first_value floor from_json greatest hour ifnull initcap instr lag last_value lead least length lower lpad ltrim max max_by mean
    median min min_by minute month mode now ntile nullif nvl percentile percentile_approx pow quarter rank regexp_extract
    regexp_like regexp_replace replace round row_number rpad rtrim second split sqrt stddev stddev_pop stddev_samp substring sum
    to_date to_json to_timestamp trim trunc try_cast try_divide unix_timestamp upper var_pop var_samp variance weekofyear year
    """
)
