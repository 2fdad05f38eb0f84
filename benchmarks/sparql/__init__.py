"""Triples, queries and changes of the workload ``sparql``, and what it compares."""
