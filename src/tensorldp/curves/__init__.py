"""Privacy profiles: exact ones, and upper bounds where there is none (docs/mathematics/curves.md)."""
