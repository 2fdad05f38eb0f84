"""The place of the SQLAlchemy dialect for imp:// URLs; it holds nothing yet."""
