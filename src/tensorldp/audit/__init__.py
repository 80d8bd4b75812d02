"""Audits: lower bounds on epsilon from samples, at a stated confidence."""
