"""The checks of the claims of the lecture."""
