"""The room of LDP-Slicing."""
