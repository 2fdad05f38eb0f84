"""Aggregates of rows that compare with aggregates of other rows: order-aware sums, and what follows changes by them."""
