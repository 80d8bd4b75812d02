"""The checks of the claims of PLDP-FL."""
