"""Groups of the options of `mbcli simulate`: each setting of a run says whose part of the help its options are."""

TIME, INTEGRATION, INPUT, ACTING, VIEW = "time", "integration", "input", "acting", "view"
LOG, ACCOUNT = "log", "account"
