"""Load tests from the command line: wrap one, import a result, list and compare."""
