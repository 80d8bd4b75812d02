"""How a cell of the study `reconstruction` is measured, by kind of attack."""
