"""Result files of load tools, each format in a file of its own, to one columnar form."""
