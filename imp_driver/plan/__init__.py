"""3. Query -> resolved plan: operators over attributes with identities, one scan per occurrence of a table."""
