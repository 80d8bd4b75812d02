"""What a user may set, what a study states, and the cells that result from both."""
