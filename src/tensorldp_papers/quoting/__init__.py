"""Numbers in the pages that are computed from the kept results, and the marks around them."""
