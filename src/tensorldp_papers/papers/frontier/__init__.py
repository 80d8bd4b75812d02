"""Our own question: the best that a true epsilon of one record buys."""
