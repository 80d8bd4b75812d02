"""TLDP: learning from perturbed images, features and parameters."""
