"""Go's text/template, as far as rules and notifications use it. Knows nothing of Prometheus; see `rules.template`.

Source: Go 1.26, text/template (lex.go, parse.go, exec.go, funcs.go) and fmt.
"""
