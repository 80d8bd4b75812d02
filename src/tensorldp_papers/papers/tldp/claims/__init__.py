"""The checks of the claims of TLDP."""
