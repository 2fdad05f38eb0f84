"""The statements of the driver itself: SHOW, EXPLAIN, DROP, ADVISE and CLUSTER SKETCH, and transactions of readers."""
