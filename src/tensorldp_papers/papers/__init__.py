"""A room for each paper: its method, figures, claims, printed numbers and studies."""
