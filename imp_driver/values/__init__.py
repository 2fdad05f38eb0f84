"""The ground: values that any part of the house may use."""
