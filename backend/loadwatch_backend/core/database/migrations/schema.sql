CREATE TABLE access_setup (
	secret_hash VARCHAR(64) NOT NULL, 
	expires_ms BIGINT NOT NULL, 
	CONSTRAINT pk_access_setup PRIMARY KEY (secret_hash)
);
CREATE TABLE action_scores (
	action_run_id VARCHAR(40) NOT NULL, 
	action_id VARCHAR(16) NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	scored_ms BIGINT NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_action_scores PRIMARY KEY (action_run_id, action_id, run_id), 
	CONSTRAINT fk_action_scores_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0021');
CREATE TABLE alert_episodes (
	id VARCHAR(32) NOT NULL, 
	identity VARCHAR(32) NOT NULL, 
	rule_id VARCHAR(64) NOT NULL, 
	rule TEXT NOT NULL, 
	source TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	annotations TEXT NOT NULL, 
	words TEXT NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	value DOUBLE, 
	active_ms BIGINT NOT NULL, 
	held_from_ms BIGINT NOT NULL, 
	fired_ms BIGINT, 
	false_since_ms BIGINT, 
	flapping BOOLEAN NOT NULL, 
	swung_ms BIGINT, 
	no_data_since_ms BIGINT, 
	resolved_ms BIGINT, 
	resolved_reason VARCHAR(20), 
	evaluated_ms BIGINT NOT NULL, 
	run_id VARCHAR(40), 
	run_name VARCHAR(200) NOT NULL, 
	acknowledged_by VARCHAR(200), 
	acknowledged_ms BIGINT, 
	acknowledged_comment TEXT NOT NULL, incident VARCHAR(32), 
	CONSTRAINT pk_alert_episodes PRIMARY KEY (id)
);
CREATE TABLE alert_evaluations (
	id INTEGER NOT NULL, 
	evaluated_ms BIGINT NOT NULL, 
	CONSTRAINT pk_alert_evaluations PRIMARY KEY (id)
);
CREATE TABLE alert_requests (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	alert_id VARCHAR(32) NOT NULL, 
	asked_by VARCHAR(200) NOT NULL
);
CREATE TABLE alert_transitions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	alert_id VARCHAR(32) NOT NULL, 
	from_state VARCHAR(10), 
	to_state VARCHAR(10) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	value DOUBLE, 
	reason VARCHAR(40) NOT NULL, 
	actor VARCHAR(200) NOT NULL, 
	CONSTRAINT fk_alert_transitions_alert_id FOREIGN KEY(alert_id) REFERENCES alert_episodes (id) ON DELETE CASCADE
);
CREATE TABLE annotation_tags (
	annotation_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	tag VARCHAR(50) NOT NULL, 
	CONSTRAINT pk_annotation_tags PRIMARY KEY (annotation_id, position), 
	CONSTRAINT fk_annotation_tags_annotation_id FOREIGN KEY(annotation_id) REFERENCES annotations (id) ON DELETE CASCADE
);
CREATE TABLE annotations (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	author VARCHAR(100) NOT NULL, 
	text VARCHAR(4000) NOT NULL, 
	start_ms BIGINT NOT NULL, 
	end_ms BIGINT, 
	created_ms BIGINT NOT NULL, 
	updated_ms BIGINT NOT NULL
, "commit" VARCHAR(100) DEFAULT '' NOT NULL, issue VARCHAR(200) DEFAULT '' NOT NULL);
CREATE TABLE api_tokens (
	id VARCHAR(40) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	role VARCHAR(20), 
	scopes VARCHAR(200) NOT NULL, 
	created_ms BIGINT NOT NULL, 
	created_by VARCHAR(100) NOT NULL, 
	last_used_ms BIGINT, 
	expires_ms BIGINT, jobs VARCHAR(2000) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_api_tokens PRIMARY KEY (id), 
	CONSTRAINT uq_api_tokens_name UNIQUE (name), 
	CONSTRAINT uq_api_tokens_token_hash UNIQUE (token_hash)
);
CREATE TABLE audit_entries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at_ms BIGINT NOT NULL, 
	actor VARCHAR(100) NOT NULL, 
	actor_kind VARCHAR(20), 
	action VARCHAR(100) NOT NULL, 
	subject VARCHAR(200) NOT NULL, 
	outcome VARCHAR(100) NOT NULL, 
	address VARCHAR(100) NOT NULL, 
	detail TEXT NOT NULL
);
CREATE TABLE evidence_files (
	id VARCHAR(32) NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	media_type VARCHAR(100) NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	author VARCHAR(100) NOT NULL, 
	note TEXT NOT NULL, 
	facts TEXT NOT NULL, 
	CONSTRAINT pk_evidence_files PRIMARY KEY (id), 
	CONSTRAINT fk_evidence_files_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE finding_opinions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_id VARCHAR(40), 
	opinion VARCHAR(20) NOT NULL, 
	finding_id VARCHAR(64) NOT NULL, 
	finding_key TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	author VARCHAR(100) NOT NULL, 
	said_ms BIGINT NOT NULL, 
	CONSTRAINT fk_finding_opinions_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE forecasts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	scenario VARCHAR(200) NOT NULL, 
	scenario_version VARCHAR(200) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_ms BIGINT NOT NULL, 
	newest_ms BIGINT NOT NULL, 
	document TEXT NOT NULL, 
	scores TEXT NOT NULL, 
	CONSTRAINT uq_forecasts_digest UNIQUE (digest)
);
CREATE TABLE leaderships (
	name VARCHAR(40) NOT NULL, 
	holder VARCHAR(64) NOT NULL, 
	epoch BIGINT NOT NULL, 
	beat BIGINT NOT NULL, 
	CONSTRAINT pk_leaderships PRIMARY KEY (name)
);
CREATE TABLE login_lockouts (
	key_hash VARCHAR(64) NOT NULL, 
	name_hash VARCHAR(64) NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_ms BIGINT NOT NULL, 
	locked_until_ms BIGINT NOT NULL, 
	CONSTRAINT pk_login_lockouts PRIMARY KEY (key_hash)
);
CREATE TABLE notify_alerts (
	"key" VARCHAR(64) NOT NULL, 
	fingerprint VARCHAR(16) NOT NULL, 
	labels TEXT NOT NULL, 
	annotations TEXT NOT NULL, 
	starts_ms BIGINT NOT NULL, 
	ends_ms BIGINT, 
	generator_url TEXT NOT NULL, 
	acknowledged BOOLEAN NOT NULL, 
	CONSTRAINT pk_notify_alerts PRIMARY KEY ("key")
);
CREATE TABLE notify_attempts (
	delivery_seq BIGINT NOT NULL, 
	number INTEGER NOT NULL, 
	at_ms BIGINT NOT NULL, 
	seconds DOUBLE NOT NULL, 
	status_code INTEGER, 
	outcome VARCHAR(20) NOT NULL, 
	error VARCHAR(1000) NOT NULL, 
	response TEXT NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_notify_attempts PRIMARY KEY (delivery_seq, number)
);
CREATE TABLE notify_deliveries (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(64) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	receiver VARCHAR(200) NOT NULL, 
	integration VARCHAR(60) NOT NULL, 
	order_hash VARCHAR(32) NOT NULL, 
	order_key TEXT NOT NULL, 
	subject VARCHAR(500) NOT NULL, 
	document BLOB NOT NULL, 
	alert_keys BLOB NOT NULL, 
	firing INTEGER NOT NULL, 
	resolved INTEGER NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	reason VARCHAR(1000) NOT NULL, 
	created_ms BIGINT NOT NULL, 
	delivered_ms BIGINT, 
	next_ms BIGINT NOT NULL, 
	delay_ms BIGINT NOT NULL, 
	early BOOLEAN NOT NULL, 
	step INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	claim VARCHAR(64) NOT NULL, 
	last_status INTEGER, 
	last_seconds DOUBLE, refused BOOLEAN DEFAULT 0 NOT NULL, urgency INTEGER DEFAULT '1' NOT NULL, 
	CONSTRAINT uq_notify_deliveries_id UNIQUE (id)
);
CREATE TABLE notify_gate (
	id INTEGER NOT NULL, 
	turns BIGINT NOT NULL, 
	token VARCHAR(32) NOT NULL, 
	routed_by VARCHAR(32) NOT NULL, 
	silences BIGINT NOT NULL, 
	CONSTRAINT pk_notify_gate PRIMARY KEY (id)
);
INSERT INTO "notify_gate" VALUES(1,0,'','',0);
CREATE TABLE notify_groups (
	id VARCHAR(32) NOT NULL, 
	route VARCHAR(200) NOT NULL, 
	group_key TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	flushed_ms BIGINT, 
	due_ms BIGINT, 
	delay_ms BIGINT NOT NULL, 
	CONSTRAINT pk_notify_groups PRIMARY KEY (id)
);
CREATE TABLE notify_integrations (
	receiver VARCHAR(200) NOT NULL, 
	integration VARCHAR(60) NOT NULL, 
	last_success_ms BIGINT, 
	last_failure_ms BIGINT, 
	failing BOOLEAN NOT NULL, 
	reason VARCHAR(1000) NOT NULL, since_ms BIGINT, refused BOOLEAN DEFAULT 0 NOT NULL, target VARCHAR(64) DEFAULT '' NOT NULL, step INTEGER DEFAULT '0' NOT NULL, next_ms BIGINT DEFAULT '0' NOT NULL, delay_ms BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_notify_integrations PRIMARY KEY (receiver, integration)
);
CREATE TABLE notify_members (
	group_id VARCHAR(32) NOT NULL, 
	alert_key VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_notify_members PRIMARY KEY (group_id, alert_key)
);
CREATE TABLE notify_told (
	id VARCHAR(32) NOT NULL, 
	sent_ms BIGINT NOT NULL, 
	expires_ms BIGINT NOT NULL, 
	alerts BLOB NOT NULL, 
	CONSTRAINT pk_notify_told PRIMARY KEY (id)
);
CREATE TABLE profile_orders (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_id VARCHAR(40) NOT NULL, 
	job VARCHAR(200) NOT NULL, 
	instance VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	seconds INTEGER NOT NULL, 
	cause VARCHAR(10) NOT NULL, 
	cause_id VARCHAR(40) NOT NULL, 
	asked_by VARCHAR(200) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	created_ms BIGINT NOT NULL, 
	taken_ms BIGINT, 
	ended_ms BIGINT, 
	reason VARCHAR(600) NOT NULL, 
	file_id VARCHAR(40) NOT NULL
);
CREATE TABLE review_actions (
	run_id VARCHAR(40) NOT NULL, 
	action_id VARCHAR(16) NOT NULL, 
	position INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	owner VARCHAR(100) NOT NULL, 
	due VARCHAR(10) NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	expected VARCHAR(200) NOT NULL, 
	expected_ms BIGINT NOT NULL, 
	scores INTEGER NOT NULL, 
	CONSTRAINT pk_review_actions PRIMARY KEY (run_id, action_id), 
	CONSTRAINT fk_review_actions_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_analyses (
	run_id VARCHAR(40) NOT NULL, 
	analysed_ms BIGINT NOT NULL, 
	document BLOB NOT NULL, 
	CONSTRAINT pk_run_analyses PRIMARY KEY (run_id), 
	CONSTRAINT fk_run_analyses_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_baselines (
	scenario VARCHAR(200) NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	CONSTRAINT pk_run_baselines PRIMARY KEY (scenario), 
	CONSTRAINT fk_run_baselines_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_meetings (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	since_ms BIGINT, 
	ended_ms BIGINT NOT NULL, 
	attendees TEXT NOT NULL
, scenario VARCHAR(200));
CREATE TABLE run_parameters (
	run_id VARCHAR(40) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	value VARCHAR(200) NOT NULL, number DOUBLE, 
	CONSTRAINT pk_run_parameters PRIMARY KEY (run_id, name), 
	CONSTRAINT fk_run_parameters_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_reviews (
	run_id VARCHAR(40) NOT NULL, 
	version INTEGER NOT NULL, 
	author VARCHAR(200) NOT NULL, 
	updated_ms BIGINT NOT NULL, 
	document TEXT NOT NULL, 
	CONSTRAINT pk_run_reviews PRIMARY KEY (run_id, version), 
	CONSTRAINT fk_run_reviews_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_shares (
	id VARCHAR(40) NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	note VARCHAR(200) NOT NULL, 
	created_ms BIGINT NOT NULL, 
	expires_ms BIGINT NOT NULL, 
	secret_hash VARCHAR(64) NOT NULL, files TEXT, 
	CONSTRAINT pk_run_shares PRIMARY KEY (id), 
	CONSTRAINT uq_run_shares_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_run_shares_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_snapshots (
	run_id VARCHAR(40) NOT NULL, 
	taken VARCHAR(20) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	document BLOB NOT NULL, 
	CONSTRAINT pk_run_snapshots PRIMARY KEY (run_id, taken), 
	CONSTRAINT fk_run_snapshots_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_tags (
	run_id VARCHAR(40) NOT NULL, 
	position INTEGER NOT NULL, 
	tag VARCHAR(50) NOT NULL, 
	CONSTRAINT pk_run_tags PRIMARY KEY (run_id, position), 
	CONSTRAINT fk_run_tags_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE runs (
	id VARCHAR(40) NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	verdict VARCHAR(20), 
	name VARCHAR(200) NOT NULL, 
	scenario VARCHAR(200) NOT NULL, 
	scenario_version VARCHAR(200) NOT NULL, 
	tool VARCHAR(200) NOT NULL, 
	commit_id VARCHAR(200) NOT NULL, 
	branch VARCHAR(200) NOT NULL, 
	author VARCHAR(200) NOT NULL, 
	host VARCHAR(200) NOT NULL, 
	dirty BOOLEAN, 
	target_rate DOUBLE, 
	target_duration_seconds DOUBLE, 
	steady_from DOUBLE, 
	steady_to DOUBLE, 
	started_ms BIGINT NOT NULL, 
	sender_started_ms BIGINT NOT NULL, 
	seen_ms BIGINT NOT NULL, 
	created_ms BIGINT NOT NULL, 
	updated_ms BIGINT NOT NULL, 
	ended_ms BIGINT, 
	sender_ended_ms BIGINT, 
	skew_ms BIGINT, 
	skew_end_ms BIGINT, 
	settled_ms BIGINT, 
	requests BIGINT, 
	rate DOUBLE, 
	success_ratio DOUBLE, 
	p95_seconds DOUBLE, 
	exit_code INTEGER, 
	abort_reason VARCHAR(200) NOT NULL, 
	result_token VARCHAR(40), 
	sparkline TEXT NOT NULL, 
	progress TEXT, 
	details TEXT NOT NULL, p95_sparkline TEXT, limits TEXT, 
	CONSTRAINT pk_runs PRIMARY KEY (id)
);
CREATE TABLE schema_history (
	revision VARCHAR(32) NOT NULL, 
	loadwatch VARCHAR(40) NOT NULL, 
	begun_ms BIGINT NOT NULL, 
	CONSTRAINT pk_schema_history PRIMARY KEY (revision)
);
CREATE TABLE silences (
	id VARCHAR(40) NOT NULL, 
	matchers TEXT NOT NULL, 
	starts_ms BIGINT NOT NULL, 
	ends_ms BIGINT NOT NULL, 
	comment TEXT NOT NULL, 
	author VARCHAR(200) NOT NULL, 
	recurrence TEXT, 
	created_ms BIGINT NOT NULL, 
	updated_ms BIGINT NOT NULL, 
	CONSTRAINT pk_silences PRIMARY KEY (id)
);
CREATE TABLE target_answers (
	"key" VARCHAR(32) NOT NULL, 
	job TEXT NOT NULL, 
	instance TEXT NOT NULL, 
	taken_away BOOLEAN NOT NULL, 
	answered_by VARCHAR(200) NOT NULL, 
	answered_ms BIGINT NOT NULL, 
	CONSTRAINT pk_target_answers PRIMARY KEY ("key")
);
CREATE TABLE user_sessions (
	id VARCHAR(40) NOT NULL, 
	secret_hash VARCHAR(64) NOT NULL, 
	user_id INTEGER, 
	token_id VARCHAR(40), 
	created_ms BIGINT NOT NULL, 
	last_seen_ms BIGINT NOT NULL, 
	expires_ms BIGINT NOT NULL, 
	address VARCHAR(100) NOT NULL, 
	browser VARCHAR(200) NOT NULL, file_token VARCHAR(64), 
	CONSTRAINT pk_user_sessions PRIMARY KEY (id), 
	CONSTRAINT uq_user_sessions_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_user_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT fk_user_sessions_token_id FOREIGN KEY(token_id) REFERENCES api_tokens (id) ON DELETE CASCADE
);
CREATE TABLE users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(100) NOT NULL, 
	name_key VARCHAR(100) NOT NULL, 
	full_name VARCHAR(200) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	source VARCHAR(20) NOT NULL, 
	disabled BOOLEAN NOT NULL, 
	password_hash VARCHAR(200), 
	external_id VARCHAR(64), 
	created_ms BIGINT NOT NULL, 
	last_seen_ms BIGINT, role_source VARCHAR(20) DEFAULT 'unknown' NOT NULL, 
	CONSTRAINT uq_users_name_key UNIQUE (name_key), 
	CONSTRAINT uq_users_external_id UNIQUE (external_id)
);
CREATE TABLE watched_facts (
	resource VARCHAR(40) NOT NULL, 
	source VARCHAR(40) NOT NULL, 
	metric VARCHAR(100) NOT NULL, 
	place VARCHAR(40) NOT NULL, 
	title VARCHAR(300) NOT NULL, 
	fields TEXT NOT NULL, 
	tags VARCHAR(100) NOT NULL, 
	changed_ms BIGINT NOT NULL, 
	seen_ms BIGINT NOT NULL, 
	gone BOOLEAN NOT NULL, 
	CONSTRAINT pk_watched_facts PRIMARY KEY (resource, source)
);
CREATE TABLE watched_places (
	place VARCHAR(40) NOT NULL, 
	first_ms BIGINT NOT NULL, 
	CONSTRAINT pk_watched_places PRIMARY KEY (place)
);
CREATE INDEX ix_annotations_start_ms ON annotations (start_ms);
CREATE INDEX ix_annotation_tags_tag ON annotation_tags (tag);
CREATE INDEX ix_runs_scenario_started_ms ON runs (scenario, started_ms);
CREATE INDEX ix_runs_state_started_ms ON runs (state, started_ms);
CREATE INDEX ix_runs_verdict ON runs (verdict);
CREATE INDEX ix_runs_tool ON runs (tool);
CREATE INDEX ix_runs_commit_id ON runs (commit_id);
CREATE INDEX ix_runs_branch ON runs (branch);
CREATE INDEX ix_runs_author ON runs (author);
CREATE INDEX ix_runs_started_ms ON runs (started_ms);
CREATE INDEX ix_runs_ended_ms ON runs (ended_ms);
CREATE INDEX ix_runs_settled_ms ON runs (settled_ms);
CREATE INDEX ix_runs_created_ms ON runs (created_ms);
CREATE INDEX ix_runs_requests ON runs (requests);
CREATE INDEX ix_runs_rate ON runs (rate);
CREATE INDEX ix_runs_success_ratio ON runs (success_ratio);
CREATE INDEX ix_runs_p95_seconds ON runs (p95_seconds);
CREATE INDEX ix_run_tags_tag ON run_tags (tag);
CREATE INDEX ix_run_baselines_run_id ON run_baselines (run_id);
CREATE INDEX ix_run_shares_run_id ON run_shares (run_id);
CREATE INDEX ix_run_shares_expires_ms ON run_shares (expires_ms);
CREATE INDEX ix_run_meetings_ended_ms ON run_meetings (ended_ms);
CREATE INDEX ix_alert_episodes_state_resolved_ms ON alert_episodes (state, resolved_ms);
CREATE INDEX ix_alert_episodes_active_ms ON alert_episodes (active_ms);
CREATE INDEX ix_alert_episodes_identity_active_ms ON alert_episodes (identity, active_ms);
CREATE INDEX ix_alert_episodes_run_id ON alert_episodes (run_id);
CREATE INDEX ix_alert_transitions_alert_id ON alert_transitions (alert_id);
CREATE INDEX ix_alert_transitions_at_ms ON alert_transitions (at_ms);
CREATE INDEX ix_notify_groups_due_ms ON notify_groups (due_ms);
CREATE INDEX ix_notify_members_alert_key ON notify_members (alert_key);
CREATE INDEX ix_notify_told_expires_ms ON notify_told (expires_ms);
CREATE INDEX ix_silences_ends_ms ON silences (ends_ms);
CREATE INDEX ix_notify_deliveries_state_next_ms ON notify_deliveries (state, next_ms);
CREATE INDEX ix_notify_deliveries_order_hash_seq ON notify_deliveries (order_hash, seq);
CREATE INDEX ix_notify_deliveries_receiver_integration_state ON notify_deliveries (receiver, integration, state);
CREATE INDEX ix_notify_deliveries_created_ms ON notify_deliveries (created_ms);
CREATE INDEX ix_user_sessions_user_id ON user_sessions (user_id);
CREATE INDEX ix_user_sessions_token_id ON user_sessions (token_id);
CREATE INDEX ix_user_sessions_expires_ms ON user_sessions (expires_ms);
CREATE INDEX ix_login_lockouts_name_hash ON login_lockouts (name_hash);
CREATE INDEX ix_login_lockouts_last_failure_ms ON login_lockouts (last_failure_ms);
CREATE INDEX ix_audit_entries_at_ms ON audit_entries (at_ms);
CREATE INDEX ix_audit_entries_actor ON audit_entries (actor);
CREATE INDEX ix_audit_entries_action ON audit_entries (action);
CREATE INDEX ix_watched_facts_seen_ms ON watched_facts (seen_ms);
CREATE INDEX ix_finding_opinions_run_id ON finding_opinions (run_id);
CREATE INDEX ix_finding_opinions_finding_id ON finding_opinions (finding_id);
CREATE INDEX ix_forecasts_scenario_scenario_version ON forecasts (scenario, scenario_version);
CREATE INDEX ix_alert_episodes_incident ON alert_episodes (incident);
CREATE INDEX ix_review_actions_state_due ON review_actions (state, due);
CREATE INDEX ix_review_actions_owner ON review_actions (owner);
CREATE INDEX ix_action_scores_run_id ON action_scores (run_id);
CREATE INDEX ix_run_parameters_name_number ON run_parameters (name, number);
CREATE INDEX ix_evidence_files_run_id_kind ON evidence_files (run_id, kind);
CREATE INDEX ix_profile_orders_run_id ON profile_orders (run_id);
CREATE INDEX ix_profile_orders_state ON profile_orders (state);
CREATE INDEX ix_profile_orders_created_ms ON profile_orders (created_ms);
INSERT INTO "schema_history" VALUES('0001', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0002', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0003', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0004', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0005', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0006', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0007', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0008', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0009', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0010', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0011', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0012', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0013', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0014', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0015', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0016', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0017', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0018', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0019', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0020', :loadwatch, :begun_ms);
INSERT INTO "schema_history" VALUES('0021', :loadwatch, :begun_ms);
