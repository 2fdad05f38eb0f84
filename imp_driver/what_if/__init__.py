"""WHAT IF: the rows that a query would have after some changes, which nobody makes."""
