"""Training: alone, federated, with private gradients, and the releases of what was trained."""
