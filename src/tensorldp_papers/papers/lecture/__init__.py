"""The lecture on reconstruction: attacks on gradients and releases, and defences."""
