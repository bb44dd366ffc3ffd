CODES = {}
