"""Expressions of SPARQL and their functions: values of terms, what is an error, how terms are compared and ordered."""
