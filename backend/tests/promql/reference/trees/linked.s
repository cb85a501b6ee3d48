// Lets a function have no body here: go:linkname finds it elsewhere.
