"""A verdict for each checkable statement of the five sources, computed from the pipeline's outputs and the library."""
