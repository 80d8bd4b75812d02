"""The checks of the claims of LATENT."""
