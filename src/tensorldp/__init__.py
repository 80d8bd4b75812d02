"""What local differential privacy costs, and what it really gives, when the private thing is a tensor."""

__version__ = "0.2.0"
