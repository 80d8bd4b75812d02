"""The loop of small networks in C++, optional: `nets.reference_loops` is what it computes, to rounding."""
