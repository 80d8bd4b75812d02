"""LATENT: bit strings of untrained features, randomised."""
