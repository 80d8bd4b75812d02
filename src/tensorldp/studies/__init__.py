"""The stages of a cell: perturb, train, evaluate and guarantee, each from plain settings and files' contents."""
