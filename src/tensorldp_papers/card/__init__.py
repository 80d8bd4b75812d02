"""A card for a mechanism: what it promises, whether that stands, what it costs, and what it gives away."""
