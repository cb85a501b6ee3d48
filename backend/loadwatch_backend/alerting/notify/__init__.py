"""Notifications: who is notified of what, when, and proof that they were: routes, silences, groups, outbox, senders.

How `alerts` and the application use notifications.

- `notify.groups.dispatch.Dispatcher.take(session, alerts, now_ms)`: within the transaction of the caller. Routes each
  alert that changed (began to fire, resolved, was acknowledged), puts it into its groups, and writes the deliveries of
  groups that are due at once. What is not due yet is in the database too, so that nothing is lost with the process.
- `notify.groups.dispatch.Dispatcher.annotate(session, annotations)`: within the same transaction, what has become known
  of alerts that fire.
- `notify.groups.dispatch.Dispatcher.flush(now_ms) -> int | None`: writes the deliveries of groups that have come due;
  the milliseconds until the next one is. Called by the notifier's own thread.
- `notify.groups.dispatch.Dispatcher.quiet(alerts, now_ms) -> Mapping[str, Quiet]`: why alerts are not sent at present,
  by key.
- `notify.groups.dispatch.Dispatcher.notices(notice) -> list[Envelope]`: who is notified of a run.
- `notify.outbox.outbox.Outbox`: `put(session, Envelope)` writes one delivery; `notify.outbox.worker.Workers` send
  what is due.
- `notify.notifier.Notifier`: `start()` and `stop()` the threads (only the server that leads runs them), `wake()` after
  a transaction that wrote deliveries, `announce(notice)` for runs.
"""
