"""Reconstruction and membership attacks on releases, and the defences against them."""
