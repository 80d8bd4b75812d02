"""The loop of small networks in C++, optional: `tensorldp.training.plain` is what it computes, to rounding."""
