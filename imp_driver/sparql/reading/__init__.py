"""From text to algebra: tokens, the parse tree, names, patterns, forms."""
