"""What may pass: values of groups between bounds, conditions and orders over them."""
