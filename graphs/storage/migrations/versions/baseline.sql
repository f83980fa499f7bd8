CREATE TABLE sessions (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    journey_id VARCHAR(200) NOT NULL,
    journey_version VARCHAR(200) NOT NULL,
    status VARCHAR(16) NOT NULL,
    pathway_id VARCHAR(200) NOT NULL,
    version INTEGER NOT NULL,
    created_at VARCHAR(32) NOT NULL,
    updated_at VARCHAR(32) NOT NULL,
    expires_at VARCHAR(32) NOT NULL,
    fence INTEGER DEFAULT 0 NOT NULL,
    lease_until {moment},
    data_key TEXT,
    key_id VARCHAR(32),
    user_id VARCHAR(200),
    unwanted_fence INTEGER,
    PRIMARY KEY (tenant, session_id)
);
CREATE INDEX sessions_by_expiry ON sessions (status, tenant, expires_at);
CREATE INDEX sessions_by_key ON sessions (journey_id, key_id, session_id) WHERE key_id IS NOT NULL;
CREATE INDEX sessions_by_pathway ON sessions (journey_id, tenant, pathway_id, updated_at) WHERE status != 'expired';
CREATE INDEX sessions_by_status ON sessions (journey_id, tenant, status, updated_at);
CREATE INDEX sessions_by_user ON sessions (user_id, tenant, updated_at) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_live ON sessions (journey_id, tenant, updated_at) WHERE status != 'expired';
CREATE INDEX sessions_to_expire ON sessions (journey_id, tenant, expires_at) WHERE status != 'expired';

CREATE TABLE turns (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    version INTEGER NOT NULL,
    kind VARCHAR(16) NOT NULL,
    checkpoint_id VARCHAR(200) NOT NULL,
    rolled_back_to INTEGER,
    pathway_id VARCHAR(200) NOT NULL,
    message TEXT,
    reply TEXT,
    operations TEXT NOT NULL,
    begun_at VARCHAR(32) NOT NULL,
    at VARCHAR(32) NOT NULL,
    flags TEXT DEFAULT '[]' NOT NULL,
    model_calls INTEGER DEFAULT 0 NOT NULL,
    input_tokens INTEGER DEFAULT 0 NOT NULL,
    output_tokens INTEGER DEFAULT 0 NOT NULL,
    trail TEXT,
    PRIMARY KEY (tenant, session_id, version),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);

CREATE TABLE audit (
    id {number} NOT NULL,
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    turn INTEGER NOT NULL,
    kind VARCHAR(32) NOT NULL,
    from_pathway VARCHAR(200),
    to_pathway VARCHAR(200),
    "trigger" TEXT,
    reason TEXT NOT NULL,
    confidence FLOAT,
    at VARCHAR(32) NOT NULL,
    unsent BOOLEAN DEFAULT true,
    PRIMARY KEY (id),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);
CREATE INDEX audit_by_turn ON audit (tenant, session_id, turn, id);
CREATE INDEX audit_unsent ON audit (id) WHERE unsent;

CREATE TABLE audit_sending (
    holder VARCHAR(36) NOT NULL,
    until FLOAT NOT NULL,
    PRIMARY KEY (holder)
);

CREATE TABLE validation_audit (
    id {number} NOT NULL,
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    journey_id VARCHAR(200) NOT NULL,
    turn INTEGER NOT NULL,
    pathway_id VARCHAR(200) NOT NULL,
    is_valid BOOLEAN NOT NULL,
    violations TEXT NOT NULL,
    confidence FLOAT,
    latency_ms FLOAT NOT NULL,
    outcome VARCHAR(16) NOT NULL,
    bypassed BOOLEAN NOT NULL,
    review BOOLEAN NOT NULL,
    at VARCHAR(32) NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);
CREATE INDEX checks_by_turn ON validation_audit (tenant, session_id, turn, id);
CREATE INDEX checks_to_review ON validation_audit (journey_id, tenant, review, id);

CREATE TABLE tenants (
    name VARCHAR(200) NOT NULL,
    at VARCHAR(32) NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE field_attempts (
    id {number} NOT NULL,
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    turn INTEGER NOT NULL,
    field VARCHAR(200) NOT NULL,
    value TEXT,
    raw TEXT,
    confidence FLOAT NOT NULL,
    validation_status VARCHAR(16) NOT NULL,
    source VARCHAR(16) NOT NULL,
    reason TEXT NOT NULL,
    at VARCHAR(32) NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);
CREATE INDEX attempts_by_field ON field_attempts (tenant, session_id, field, id);
CREATE INDEX attempts_by_turn ON field_attempts (tenant, session_id, turn, id);

CREATE TABLE effects (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    "key" TEXT NOT NULL,
    step TEXT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    state VARCHAR(16) NOT NULL,
    result TEXT,
    reason TEXT,
    begun_at VARCHAR(32) NOT NULL,
    ended_at VARCHAR(32),
    PRIMARY KEY (tenant, session_id, "key"),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);

CREATE TABLE answers (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    "key" VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    version INTEGER NOT NULL,
    answer TEXT,
    at VARCHAR(32) NOT NULL,
    PRIMARY KEY (tenant, session_id, "key"),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);

CREATE TABLE timers (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    journey_id VARCHAR(200) NOT NULL,
    timer TEXT NOT NULL,
    due_at VARCHAR(32) NOT NULL,
    since VARCHAR(32) NOT NULL,
    moved VARCHAR(32) NOT NULL,
    taken TEXT NOT NULL,
    tries INTEGER NOT NULL,
    retry_at VARCHAR(32),
    PRIMARY KEY (tenant, session_id),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);
CREATE INDEX timers_to_take ON timers (journey_id, due_at);

CREATE TABLE probes (
    tenant VARCHAR(200) NOT NULL,
    process VARCHAR(36) NOT NULL,
    at VARCHAR(32) NOT NULL,
    PRIMARY KEY (tenant, process)
);

CREATE TABLE running_turns (
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    fence INTEGER NOT NULL,
    version INTEGER NOT NULL,
    asked VARCHAR(32) NOT NULL,
    message TEXT NOT NULL,
    tries INTEGER NOT NULL,
    PRIMARY KEY (tenant, session_id),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);

CREATE TABLE escalations (
    number {number} NOT NULL,
    id VARCHAR(36) NOT NULL,
    tenant VARCHAR(200) NOT NULL,
    session_id VARCHAR(200) NOT NULL,
    journey_id VARCHAR(200) NOT NULL,
    turn INTEGER NOT NULL,
    reason TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    claimed_by VARCHAR(200),
    payload TEXT NOT NULL,
    at VARCHAR(32) NOT NULL,
    updated_at VARCHAR(32) NOT NULL,
    unclaimed_at VARCHAR(32) NOT NULL,
    delivered_at VARCHAR(32),
    tries INTEGER NOT NULL,
    next_try_at VARCHAR(32) NOT NULL,
    PRIMARY KEY (number),
    FOREIGN KEY(tenant, session_id) REFERENCES sessions (tenant, session_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX escalations_by_id ON escalations (id);
CREATE INDEX escalations_by_session ON escalations (tenant, session_id);
CREATE INDEX escalations_to_deliver ON escalations (status, delivered_at, next_try_at);
CREATE INDEX escalations_to_take ON escalations (journey_id, tenant, status, number);

CREATE TABLE api_keys (
    tenant VARCHAR(200) NOT NULL,
    id VARCHAR(16) NOT NULL,
    name VARCHAR(200) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    scopes VARCHAR(64) NOT NULL,
    user_id VARCHAR(200),
    session_id VARCHAR(200),
    made_by VARCHAR(16),
    created_at VARCHAR(32) NOT NULL,
    expires_at VARCHAR(32),
    revoked_at VARCHAR(32),
    replaced_by VARCHAR(16),
    PRIMARY KEY (tenant, id)
);
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at);
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (id);

CREATE TABLE definitions (
    tenant VARCHAR(200) NOT NULL,
    id VARCHAR(200) NOT NULL,
    version INTEGER NOT NULL,
    kind VARCHAR(16) NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    active BOOLEAN NOT NULL,
    dropped INTEGER NOT NULL,
    loaded_at VARCHAR(32) NOT NULL,
    served BOOLEAN DEFAULT true NOT NULL,
    journey_version VARCHAR(200),
    PRIMARY KEY (tenant, id, version)
);
CREATE INDEX definitions_by_activity ON definitions (tenant, active, id);

CREATE TABLE definition_epoch (
    tenant VARCHAR(200) NOT NULL,
    epoch INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    PRIMARY KEY (tenant)
);

CREATE TABLE journeygraph_range (
    oldest VARCHAR(32) NOT NULL,
    PRIMARY KEY (oldest)
)
