-- What a domain shows of its tables to the statements of others. Each is a plain view of one table, which PostgreSQL replaces by
-- its table when it plans a statement; a migration that changes a table of which a view shows a column makes the view anew.
-- Runs with version 0.1.0 or later.

-- accounts
CREATE VIEW account_states AS
SELECT key, name, suspended_at, paused_at, deletion_requested_at, plan
  FROM accounts;
CREATE VIEW session_terms AS
SELECT id, account_key, expires_at
  FROM sessions;

-- catalog
CREATE VIEW published_apps AS
SELECT app_id, owner_key, system
  FROM apps;
CREATE VIEW published_versions AS
SELECT app_id, version, package_hash, manifest, newest
  FROM app_versions;
CREATE VIEW stored_packages AS
SELECT hash, size, unpacked
  FROM package_blobs;

-- installations
CREATE VIEW installed_apps AS
SELECT id, account_key, app_id, version, host_label, endpoint_id, generation, grants, resources, revision, stopped,
       node_id, epoch, has_volume, volume_store, waiting, held_by, wanted_hosting, former_version, former_kept_until,
       clients_revision
  FROM installations
 WHERE removed_at IS NULL;
CREATE VIEW kept_installations AS
SELECT id, account_key, app_id, version, host_label, endpoint_id, generation, grants, resources, revision, stopped,
       node_id, epoch, has_volume, volume_store, waiting, held_by, wanted_hosting, former_version, former_kept_until,
       clients_revision, removed_at
  FROM installations;
CREATE VIEW running_deletions AS
SELECT installation_id
  FROM data_deletions;

-- ingress
CREATE VIEW known_ingresses AS
SELECT id, public_key, link
  FROM ingresses;
CREATE VIEW counted_requests AS
SELECT installation_id, day, outcome, count
  FROM public_requests;

-- members
CREATE VIEW follower_progress AS
SELECT follows, follower_id, revision, at
  FROM followers;

-- nodes
CREATE VIEW known_nodes AS
SELECT id, name, public_key, credential_hash, control_url, inbound_origin, labels, local, leased, beat, lost_at,
       cordoned_at, memory_mib, runtimes, processor, shared_store, disk_mib, disk_full, asks_capabilities
  FROM nodes;

-- object-storage
CREATE VIEW object_owners AS
SELECT installation_id
  FROM object_prefixes;

-- outbound
CREATE VIEW bound_secrets AS
SELECT installation_id, slot, account_key, secret_name, declaration_hash, declaration, inject_in, inject_name,
       inject_scheme
  FROM secret_bindings;

-- placement
CREATE VIEW workload_credentials AS
SELECT installation_id, token_hash, node_id, epoch, envelope_key
  FROM core_credentials;
CREATE VIEW backend_states AS
SELECT installation_id, node_id, state, since, reason, restarts, last_exit
  FROM installation_status;
CREATE VIEW reserved_node_labels AS
SELECT label
  FROM reserved_labels;

-- secrets
CREATE VIEW sealed_secrets AS
SELECT account_key, name, sealed, last_used_at
  FROM account_secrets;

-- topology
CREATE VIEW public_labels AS
SELECT installation_id, generation, label
  FROM public_names;
CREATE VIEW topology_revision AS
SELECT revision
  FROM topology_state;
CREATE VIEW public_node_addresses AS
SELECT node_id, url
  FROM topology_nodes;
