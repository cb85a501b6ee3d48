"""Rule files that are right and wrong, for comparison with promtool."""

GOOD = {
    "empty": "",
    "comment only": "# nothing\n",
    "no groups": "groups: []\n",
    "null groups": "groups:\n",
    "group without rules": "groups:\n- name: a\n",
    "alert": "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up == 0\n    for: 5m\n    keep_firing_for: 1h30m\n",
    "record": "groups:\n- name: a\n  interval: 10s\n  limit: 5\n  rules:\n  - record: a:b\n    expr: sum(up)\n"
    "    labels: {x: y}\n",
    "scalar": "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: 1\n",
    "block": "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: |\n      up\n        == 0\n",
    "template": "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up == 0\n"
    "    labels: {severity: '{{ $labels.x }}'}\n"
    "    annotations: {summary: '{{ $value | humanize }}'}\n",
    "number as text": "groups:\n- name: 1\n  rules:\n  - alert: 2\n    expr: up\n    labels: {a: 3, b: true}\n",
    "anchor": "groups:\n- name: a\n  rules:\n  - &r {alert: A, expr: up}\n  - <<: *r\n    alert: B\n",
    "same alert twice": "groups:\n- name: a\n  rules:\n  - {alert: A, expr: up}\n  - {alert: A, expr: up}\n",
    "utf-8": "groups:\n- name: グループ\n  rules:\n  - alert: 遅い\n    expr: up\n"
    "    annotations: {summary: 'é 日本'}\n",
    "mark": "\ufeffgroups:\n- name: a\n",
}

BAD: dict[str, tuple[str, list[tuple[int, int, str]]]] = {
    "top key": ("group:\n- name: a\n", [(1, 1, "unknown key 'group' in the file; did you mean 'groups'?")]),
    "list": ("- a\n", [(1, 1, "must be a mapping")]),
    "no name": ("groups:\n- rules: []\n", [(2, 3, "needs a `name`")]),
    "group twice": ("groups:\n- name: a\n- name: a\n", [(3, 9, "stands twice")]),
    "key twice": (
        "groups:\n- name: a\n  name: b\n",
        [(3, 3, "'name' is given twice in this mapping; the first is in line 2")],
    ),
    "interval": ("groups:\n- name: a\n  interval: soon\n", [(3, 13, "not a duration")]),
    "limit": ("groups:\n- name: a\n  limit: many\n", [(3, 10, "whole number")]),
    "rule key": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expression: up\n    expr: up\n",
        [(5, 5, "unknown key 'expression' in rules")],
    ),
    "both": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    record: b\n    expr: up\n",
        [(5, 5, "either `alert` or `record`")],
    ),
    "neither": ("groups:\n- name: a\n  rules:\n  - expr: up\n", [(4, 5, "needs `alert` or `record`")]),
    "no expression": ("groups:\n- name: a\n  rules:\n  - alert: A\n", [(4, 5, "expr is missing")]),
    "promql": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: sum(up\n",
        [(5, 11, "invalid PromQL")],
    ),
    "function": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: summe(up)\n",
        [(5, 11, "unknown function")],
    ),
    "for": ("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    for: 5\n", [(6, 10, "not a duration")]),
    "for of a record": (
        "groups:\n- name: a\n  rules:\n  - record: a\n    expr: up\n    for: 5m\n    annotations: {a: b}\n",
        [(6, 5, "has no `for`"), (7, 5, "has no `annotations`")],
    ),
    "label name": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    labels: {'': c, a.b: e, __name__: d}\n",
        [(6, 14, "no name of a label"), (6, 29, "no name of a label")],
    ),
    "annotation name": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    annotations:\n      '': c\n",
        [(7, 7, "an annotation has no name")],
    ),
    "template": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    annotations: {s: '{{ $label.x }}'}\n",
        [(6, 22, "undefined variable '$label'")],
    ),
    "label template": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    labels: {s: '{{ if }}'}\n",
        [(6, 17, "missing value for if")],
    ),
    "not yaml": ("groups:\n- name: 'a\n", [(3, 1, "not YAML")]),
    "tab": ("groups:\n\t- name: a\n", [(2, 1, "not YAML")]),
    "list as text": ("groups:\n- name: [a]\n", [(2, 9, "must be a text")]),
    "rules as text": ("groups:\n- name: a\n  rules: none\n", [(3, 10, "must be a list")]),
    "several": (
        "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: sum(\n"
        "  - alert: B\n    expr: up\n    for: x\n- name: a\n",
        [(5, 11, "invalid PromQL"), (8, 10, "not a duration"), (9, 9, "stands twice")],
    ),
}
