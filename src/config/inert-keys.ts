/**
 * Keys that configuration files written for the contract may hold and that have no effect here. Each is accepted with one warning, since
 * no setting may be ignored in silence; one that asks for what Varve does anyway needs none; one that would be dangerous to ignore is
 * refused. Source: contract http.md 1.5, 7.5.
 */

/** A key without effect. */
export interface InertKey {
  readonly key: string;
  /** Why, and what to use instead: a phrase. */
  readonly why: string;
  /** Values that ask for what the server does anyway: no warning. */
  readonly neutral: readonly unknown[];
  /** True: any value that is not neutral stops the start, since ignoring it would break a promise. */
  readonly isRefused: boolean;
}

interface InertSection {
  readonly why: string;
  /** Keys, separated by blanks. */
  readonly keys: string;
  readonly neutral?: Readonly<Record<string, readonly unknown[]>>;
}

const NOT_YET = "not available in this version";
const OFF: readonly unknown[] = [false];
const FOUND_BY_NATS = "machines of a cluster find each other by NATS, as `cluster.servers` and the keys beside it say";

const SECTIONS: Readonly<Record<string, InertSection>> = {
  "": { why: NOT_YET, keys: "default_column_prefix heartbeat_env_vars", neutral: { heartbeat_env_vars: [[]] } },
  meta_client: {
    why: "machines of a cluster agree by NATS, whose servers `cluster.servers` names",
    keys: `metasrv_addrs timeout connect_timeout ddl_timeout heartbeat_timeout tcp_nodelay metadata_cache_max_capacity metadata_cache_ttl
      metadata_cache_tti`,
    neutral: { tcp_nodelay: [true] },
  },
  http: {
    why: NOT_YET,
    keys: "enable_api_server api_server_addr",
    neutral: { enable_api_server: OFF },
  },
  grpc: {
    why: "calls are served by the main thread, and connections live as long as they are used",
    keys: `runtime_size max_connection_age http2_keep_alive_interval http2_keep_alive_timeout server_addr hostname tls.ca_cert_path`,
    neutral: { "tls.ca_cert_path": [""] },
  },
  mysql: {
    why: "connections are served by the main thread, and clients' certificates are not verified",
    keys: "runtime_size tls.ca_cert_path",
    neutral: { "tls.ca_cert_path": [""] },
  },
  postgres: {
    why: "connections are served by the main thread, and clients' certificates are not verified",
    keys: "runtime_size tls.ca_cert_path",
    neutral: { "tls.ca_cert_path": [""] },
  },
  otlp: {
    why: "OTLP over HTTP is always on, and spans are checked one by one",
    keys: "enable trace_ingest_chunk_size",
    neutral: { enable: [true] },
  },
  prom_store: {
    why: "each remote write is durable on its own; the log gathers those that come together",
    keys: `pending_rows_flush_interval max_batch_rows max_concurrent_flushes worker_channel_capacity max_inflight_requests
      flow_notification_queue_capacity`,
    neutral: { pending_rows_flush_interval: ["0s"] },
  },
  wal: {
    why: "the log has other settings here: wal.dir, wal.sync, wal.sync_interval, wal.segment_size, wal.recovery",
    keys: `purge_threshold purge_interval read_batch_size enable_log_recycle prefill_log_files recovery_parallelism broker_endpoints
      auto_create_topics num_topics selector_type topic_name_prefix replication_factor create_topic_timeout max_batch_bytes
      consumer_wait_timeout overwrite_entry_start_id connect_timeout timeout`,
    neutral: { enable_log_recycle: OFF, prefill_log_files: OFF },
  },
  storage: {
    why: "files lie in the data directory, or in an S3-compatible store with the keys that the configuration names",
    keys: `providers name scope access_key_secret account_name account_key container sas_token credential credential_path cache_path
      enable_read_cache disable_ec2_metadata`,
    neutral: { providers: [[]], disable_ec2_metadata: [true] },
  },
  metadata_store: { why: "metadata is kept in one embedded database", keys: "file_size purge_threshold purge_interval" },
  procedure: {
    why: "there are no background procedures to configure",
    keys: "max_retry_times retry_delay max_running_procedures max_metadata_value_size",
  },
  flow: {
    why: "flows are not available in this version",
    keys: `num_workers batching_mode.query_timeout batching_mode.slow_query_threshold batching_mode.experimental_min_refresh_duration
      batching_mode.grpc_conn_timeout batching_mode.experimental_grpc_max_retries batching_mode.experimental_frontend_scan_timeout
      batching_mode.experimental_max_filter_num_per_query batching_mode.experimental_time_window_merge_threshold
      batching_mode.experimental_enable_incremental_read batching_mode.read_preference`,
  },
  logging: {
    why: "log lines go to stderr; redirect them to keep them in files",
    keys: `dir max_log_files append_stdout enable_file_logging enable_per_region_metrics slow_query`,
    neutral: { enable_file_logging: OFF, enable_per_region_metrics: OFF },
  },
  tracing: { why: NOT_YET, keys: "tokio_console_addr" },
  query: {
    why: "queries have other settings here: query.timeout, query.memory_limit; all together hold half of memory.limit",
    keys: "parallelism allow_query_fallback memory_pool_size",
    neutral: { parallelism: [0], allow_query_fallback: OFF, memory_pool_size: ["unlimited"] },
  },
  memory: {
    why: "POST /debug/prof/mem/activate switches profiles of the heap on",
    keys: "enable_heap_profiling",
    neutral: { enable_heap_profiling: OFF },
  },
  event_recorder: { why: NOT_YET, keys: "ttl event_types" },
  runtime: { why: "the number of threads is chosen by the server", keys: "global_rt_size compact_rt_size" },
};

/** Keys with a reason of their own. */
const SINGLE: readonly InertKey[] = [
  inert("node_id", "only data nodes have one", []),
  inert("logging.otlp_export_protocol", "traces go by OTLP over HTTP", ["http"]),
  inert("logging.otlp_headers", "a name and a password may stand in logging.otlp_endpoint", []),
  inert("logging.tracing_sample_ratio.rules", "all traces that begin here have one ratio", []),
  inert("wal.sync_write", "use wal.sync: always is the default", [true]),
  inert("wal.sync_period", "use wal.sync_interval with wal.sync = interval", []),
  inert("wal.file_size", "use wal.segment_size", []),
  { ...inert("wal.provider", "the log is always a local one", ["raft_engine"]), isRefused: true },
];

/** Whole sections, arrays of tables included: one warning for all that is in them. */
const WHOLE_SECTIONS: readonly InertKey[] = [
  inert("region_engine", "storage has other settings here: storage.memtable_size, storage.write_buffer_limit, storage.flush_interval", []),
  inert("plugins", "there are no plugins", []),
  inert("heartbeat", FOUND_BY_NATS, []),
  inert("internal_grpc", FOUND_BY_NATS, []),
  inert("datanode", FOUND_BY_NATS, []),
];

const BY_KEY: ReadonlyMap<string, InertKey> = new Map(
  [...SINGLE, ...WHOLE_SECTIONS, ...Object.entries(SECTIONS).flatMap(([name, section]) => keysOf(name, section))].map((entry) => [
    entry.key,
    entry,
  ]),
);

/** Every key without effect. */
export const INERT_KEYS: readonly string[] = [...BY_KEY.keys()];

/** The entry of a key, or of the whole section it is in; undefined when the key is not one of these. */
export function inertKeyOf(key: string): InertKey | undefined {
  return BY_KEY.get(key) ?? WHOLE_SECTIONS.find((section) => key.startsWith(`${section.key}.`));
}

/** Whether a value asks for what the server does anyway. */
export function isNeutral(entry: InertKey, value: unknown): boolean {
  return entry.neutral.some((neutral) => Bun.deepEquals(neutral, value) || String(neutral) === value);
}

function keysOf(name: string, section: InertSection): readonly InertKey[] {
  return section.keys.split(/\s+/).map((key) => inert(name === "" ? key : `${name}.${key}`, section.why, section.neutral?.[key] ?? []));
}

function inert(key: string, why: string, neutral: readonly unknown[]): InertKey {
  return { key, why, neutral, isRefused: false };
}
