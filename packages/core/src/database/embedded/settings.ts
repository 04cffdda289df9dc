// The settings of the embedded PostgreSQL: every acknowledged write is on the disk, and the whole
// server stays small beside the platform on a laptop.

/** Values of PostgreSQL's parameters by name. */
export type Settings = Readonly<Record<string, string>>;

const durable: Settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  // Files in the data folder. Those in /dev/shm are too small in many containers, stay behind after a
  // crash, and are deleted under an ordinary user's server when that user logs out.
  dynamic_shared_memory_type: 'mmap',
};

const small: Settings = {
  shared_buffers: '32MB',
  max_connections: '60',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  effective_cache_size: '512MB',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  huge_pages: 'off',
  jit: 'off',
  // Three I/O worker processes gain nothing with 32 MB of buffers.
  io_method: 'sync',
  autovacuum: 'on',
  autovacuum_max_workers: '2',
  autovacuum_worker_slots: '2',
  // No parallel queries, no replication: their processes and slots cost memory.
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  max_logical_replication_workers: '0',
  max_wal_senders: '0',
};

const quiet: Settings = {
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The client receives the errors of its statements. Logged, they would fill the disk and expose values of rows;
  // server events and crashes have a higher level and are still logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

/**
 * The `-c` arguments of the server.
 *
 * @param socketFolder the only way in: no TCP port is opened.
 * @param changes override or add to the defaults, for tests and measurements.
 */
export function settingArguments(socketFolder: string, changes: Settings): string[] {
  const settings: Settings = {
    ...durable,
    ...small,
    ...quiet,
    ...changes,
    cluster_name: 'platform',
    listen_addresses: '',
    port: '5432',
    // A list to PostgreSQL: quoted, for a folder with a comma or a space in its name.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0600',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
