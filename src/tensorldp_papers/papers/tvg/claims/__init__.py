"""The checks of the claims of TVG."""
