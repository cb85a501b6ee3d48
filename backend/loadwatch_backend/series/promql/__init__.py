"""PromQL: parsed into our own tree, evaluated on numpy arrays over the samples of one port.

Other slices use `loadwatch_backend.series.promql.engine.Engine` and nothing else of this package.
"""
