"""PLDP-FL: federated averaging with personal budgets."""
