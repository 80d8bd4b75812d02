"""What a user may set, what a study states, and the cells that follow from both."""
