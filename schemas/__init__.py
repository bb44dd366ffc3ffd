"""JSON Schemas of the YAML files that mbcli reads and of the log it writes."""
