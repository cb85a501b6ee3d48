"""What the audit log calls each route that changes something: pure data, one entry for every such route.

A test walks all routes and fails for one that has no entry here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A route's name in the log. `made` leads to the key in the answer that names what was made."""

    name: str
    made: tuple[str, ...] = ()


def _made(name: str, *made: str) -> Action:
    return Action(name=name, made=made)


ACTIONS: dict[str, Action | None] = {
    # Sign-ins write entries of their own: who it was is known at their end only.
    "POST /api/session": None,
    "POST /api/session/password": None,
    "POST /api/setup": _made("setup", "principal", "name"),
    "DELETE /api/session": _made("session.logout"),
    "PUT /api/session/password": _made("session.password"),
    "DELETE /api/session/sessions/{session_id}": _made("session.end"),
    "POST /api/users": _made("user.create", "name"),
    "PATCH /api/users/{user_id}": _made("user.update", "name"),
    "DELETE /api/users/{user_id}": _made("user.delete"),
    "DELETE /api/users/{user_id}/sessions/{session_id}": _made("user.session.end"),
    "POST /api/tokens": _made("token.create", "record", "name"),
    "DELETE /api/tokens/{token_id}": _made("token.revoke"),
    "POST /api/targets/answers": _made("target.answer"),
    "POST /api/store/compact": _made("store.compact"),
    "POST /api/panels": _made("panel.pin", "id"),
    "DELETE /api/panels/{panel_id}": _made("panel.remove"),
    "POST /api/annotations": _made("annotation.create", "id"),
    "PATCH /api/annotations/{annotation_id}": _made("annotation.update"),
    "DELETE /api/annotations/{annotation_id}": _made("annotation.delete"),
    "POST /api/runs": _made("run.create", "id"),
    "PATCH /api/runs/{run_id}": _made("run.update"),
    "DELETE /api/runs/{run_id}": _made("run.delete"),
    "POST /api/runs/{run_id}/finish": _made("run.finish"),
    # The load tool's figures, each second or so: samples in all but name.
    "POST /api/runs/{run_id}/progress": None,
    "POST /api/runs/{run_id}/findings": _made("run.findings"),
    "POST /api/findings/marks": _made("finding.mark", "id"),
    "DELETE /api/findings/marks/{mark_id}": _made("finding.unmark"),
    "PUT /api/runs/{run_id}/baseline": _made("run.baseline.set"),
    "DELETE /api/runs/{run_id}/baseline": _made("run.baseline.clear"),
    "PUT /api/runs/{run_id}/review": _made("run.review"),
    "POST /api/runs/{run_id}/shares": _made("share.create", "id"),
    "DELETE /api/shares/{share_id}": _made("share.delete"),
    "POST /api/runs/{run_id}/evidence": _made("evidence.add", "id"),
    "POST /api/runs/{run_id}/profiles": _made("profile.import", "id"),
    "POST /api/profile-orders": _made("profile.order"),
    # Agents at work on orders: samples in all but name.
    "POST /api/profiles/orders/{order_id}/begin": None,
    "POST /api/profiles/orders/{order_id}/failure": None,
    "POST /api/profiles/orders/{order_id}/profile": None,
    "PATCH /api/evidence/{file_id}": _made("evidence.update"),
    "DELETE /api/evidence/{file_id}": _made("evidence.delete"),
    "POST /api/imports": _made("import.create", "id"),
    "DELETE /api/imports/{import_id}": _made("import.cancel"),
    "POST /api/archives": _made("archive.import", "id"),
    "POST /api/meetings": _made("meeting.create", "id"),
    "PUT /api/alerts/{alert_id}/acknowledgement": _made("alert.acknowledge"),
    "DELETE /api/alerts/{alert_id}/acknowledgement": _made("alert.unacknowledge"),
    "POST /api/alerts/{alert_id}/dismiss": _made("alert.dismiss"),
    "POST /api/rules/reload": _made("rules.reload"),
    "POST /api/routes/reload": _made("routes.reload"),
    "POST /api/backup": _made("backup.make"),
    "POST /api/connect/watch": _made("agent.configure", "written", "path"),
    "POST /api/silences": _made("silence.create", "id"),
    "PUT /api/silences/{silence_id}": _made("silence.update"),
    "POST /api/silences/{silence_id}/expire": _made("silence.expire"),
    "POST /alertmanager/api/v2/silences": _made("alertmanager.silence.create", "silenceID"),
    "DELETE /alertmanager/api/v2/silence/{silence_id}": _made("alertmanager.silence.expire"),
    # Always refused: rules make alerts.
    "POST /alertmanager/api/v2/alerts": None,
    "POST /api/receivers/{name}/test": _made("receiver.test"),
    "POST /api/receivers/{name}/integrations/{integration}/retry": _made("receiver.retry"),
    "POST /api/receivers/{name}/integrations/{integration}/stop": _made("receiver.stop"),
    "POST /api/deliveries/{delivery_id}/retry": _made("delivery.retry"),
    "POST /api/deliveries/{delivery_id}/stop": _made("delivery.stop"),
    # Reads each collector of lines that are shown, and changes nothing.
    "POST /api/connect/check": None,
    # Questions that are too long for an address, and samples.
    "POST /api/signals/query": None,
    "POST /api/routes/resolve": None,
    "POST /api/silences/preview": None,
    "POST /prometheus/api/v1/write": None,
    "POST /prometheus/api/v1/otlp/v1/metrics": None,
    "POST /prometheus/api/v1/query": None,
    "POST /prometheus/api/v1/query_range": None,
    "POST /prometheus/api/v1/series": None,
    "POST /prometheus/api/v1/labels": None,
    "POST /prometheus/api/v1/query_exemplars": None,
}
"""By method and path as in the API document; None for what is not audited."""
