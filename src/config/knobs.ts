/**
 * The table of knobs: every key that has an effect, with its kind, range, default and the reason for the default.
 * `Settings` and this table mirror each other; the type checker refuses a field without a knob. The order is that of `/config`.
 * Source: contract http.md 1.5, README 10, 11, 14, 18; specification 2.
 */
import { parseEndpointPattern } from "../base/text/endpoint-pattern.ts";
import { errorText } from "../base/error.ts";
import type { LogFilter } from "../base/log.ts";
import { parseLogFilter, printLogFilter } from "../base/text/log-filter.ts";
import { type Parsed, parsed, refused } from "../base/text/parsed.ts";
import { namedTimeZone } from "../base/text/time-zone.ts";
import { byteLength, durationMillis } from "../base/units.ts";
import { address } from "./address.ts";
import { exhaustedPolicy, WAIT_DEFAULT } from "./exhausted-policy.ts";
import { bool, choice, duration, filePath, int, type Kind, list, optional, ratio, size, text, tomlString } from "./kind.ts";
import { accessKey, bucket, endpoint, objectRoot, region } from "./object-store-kinds.ts";
import { CLUSTER_KNOBS } from "./cluster-knobs.ts";
import type { Knob } from "./knob.ts";
import type { Settings, TlsMode } from "./settings.ts";

/** The knobs of every section. */
export type Knobs = { readonly [S in keyof Settings]: { readonly [F in keyof Settings[S]]: Knob<Settings[S][F]> } };

const KIB = 1024;
const MIB: number = 1024 * KIB;
const GIB: number = 1024 * MIB;
const TIB: number = 1024 * GIB;
const SECOND_MS = 1000;
const MINUTE_MS: number = 60 * SECOND_MS;
const DAY_MS: number = 24 * 60 * MINUTE_MS;

/** Write buffers are this many memtables: one fills, one is being flushed, the rest is slack for a slow disk. */
const WRITE_BUFFER_MEMTABLES = 6;
/**
 * Measured with 32 and 64 MiB: line protocol, one thread, 1.27M and 1.25M rows/s at a peak of 350 and 555 MiB; two threads 508 and 786 MiB,
 * and no faster. Remote write of 20M samples, CPU s a million: 0.41 and 0.38, but with 64 MiB no merge began in that time.
 */
const MEMTABLE_BYTES: number = 32 * MIB;

/** Each takes 10 MB idle, and the owner of the tables hears of every request. */
const INGEST_THREADS_MAX = 64;
/** Reason: each keeps pages of its own. */
const QUERY_WORKERS_MAX = 256;

/** The longest message that gRPC may be set to take: an array of the runtime holds no more. */
const GRPC_MESSAGE_BYTES_MAX: number = 2 * GIB;

/** Reason: as many samples as fit in any memory. */
const PROMQL_COUNT_MAX = 1_000_000_000_000;

/** A folder's path. */
const path: Kind<string> = text("a path", (value) => {
  if (value.trim() === "") return "it is empty";
  return value.includes("\0") ? "it holds a NUL character" : undefined;
});

const userProvider: Kind<string> = text('a string such as "static_user_provider:file:users.txt"', (value) =>
  value === "" ? "it is empty" : undefined,
);

const timezone: Kind<string> = text('"SYSTEM" or a name such as "Europe/Berlin"', (value) => {
  if (value.toUpperCase() === "SYSTEM") return undefined;
  if (/^[+-]/.test(value)) return 'an offset is no zone of a machine; for "+01:00" write "Etc/GMT-1"';
  return namedTimeZone(value) === undefined ? "no such time zone" : undefined;
});

const logLevel: Kind<LogFilter> = {
  want: 'off, error, warn, info, debug, trace or a filter such as "info,wal=debug"',
  fromToml: (value) => (typeof value === "string" ? readLogLevel(value) : refused("it is not a string")),
  fromText: readLogLevel,
  toToml: (value) => tomlString(printLogFilter(value)),
};

function readLogLevel(value: string): Parsed<LogFilter> {
  try {
    return parsed(parseLogFilter(value));
  } catch (thrown) {
    return refused(errorText(thrown));
  }
}

/** Origins are header values: visible ASCII without blanks. `*` is any, whatever else is listed. */
const origins: Kind<readonly string[]> = list('a list of origins such as ["https://example.com"]', (items) => {
  const bad = items.find((item) => !/^[\x21-\x2b\x2d-\x7e]+$/.test(item));
  if (bad !== undefined) return refused(`${tomlString(bad)} is not an origin`);
  return parsed(items.includes("*") ? ["*"] : items);
});

/** Names in `Host`, with or without a port. */
const hosts: Kind<readonly string[]> = list('a list of names such as ["metrics.example.com"]', (items) => {
  const bad = items.find((item) => !/^[A-Za-z0-9._-]{1,253}(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/.test(item));
  return bad === undefined ? parsed(items) : refused(`${tomlString(bad)} is not a name`);
});

/** Endpoints of stores. */
const endpoints: Kind<readonly string[]> = list(
  'a list of origins such as ["https://s3.example.com", "http://127.0.0.1:9000"]',
  (items) => {
    for (const item of items) {
      const entry = parseEndpointPattern(item);
      if (!entry.ok) return refused(`${tomlString(item)}: ${entry.reason}`);
    }
    return parsed(items);
  },
);

/** The words of the file, and those of the command line, which have a dash. */
const tlsMode: Kind<TlsMode> = {
  ...choice<TlsMode>("disable", "prefer", "require", "verify_ca", "verify_full"),
  fromText: (value) => choice<TlsMode>("disable", "prefer", "require", "verify_ca", "verify_full").fromText(value.replaceAll("-", "_")),
};

/** A URL that spans are posted to. */
const traceEndpoint: Kind<string> = text('an address such as "http://localhost:4318/v1/traces"', (value) => {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) ? undefined : "it is no http or https URL";
});

/** Every knob, by section and field. */
export const KNOBS: Knobs = {
  general: {
    enableTelemetry: {
      key: "enable_telemetry",
      kind: bool,
      default: false,
      inert: { why: "Varve sends no telemetry whatever it says", neutral: false, isInForce: true },
      reason: "Clients of the contract look for the key. Nothing is ever sent.",
    },
    defaultTimezone: {
      key: "default_timezone",
      kind: optional(timezone),
      default: undefined,
      example: "Europe/Berlin",
      reason: "Time zone of the server as clients see it. Sessions start in UTC.",
    },
    autoCreateTable: {
      key: "auto_create_table",
      kind: bool,
      default: true,
      reason: "Writes make missing tables and columns; false is an upper bound over every hint.",
    },
    inFlightBytesMax: {
      key: "max_in_flight_write_bytes",
      kind: size(0, TIB),
      default: byteLength(0),
      reason: "Request bodies that are worked on at once, as sent and as they unfold; 0KiB: 256MiB, or a quarter of memory.limit.",
    },
    inFlightPolicy: {
      key: "write_bytes_exhausted_policy",
      kind: exhaustedPolicy,
      default: WAIT_DEFAULT,
      reason: "A request beyond max_in_flight_write_bytes waits 10 s for others to end, then it is told to come back: bursts pass unseen.",
    },
    userProvider: {
      key: "user_provider",
      kind: optional(userProvider),
      default: undefined,
      example: "watch_file_user_provider:/etc/varve/users.txt",
      secret: true,
      reason: "Unset: no authentication, as clients of the contract expect on a fresh server that listens on 127.0.0.1 only.",
    },
    initRegionsInBackground: {
      key: "init_regions_in_background",
      kind: bool,
      default: false,
      inert: { why: "tables are always opened before the server listens", neutral: false },
      reason: "Clients of the contract look for the key.",
    },
    initRegionsParallelism: {
      key: "init_regions_parallelism",
      kind: int(1, 1024),
      default: 16,
      inert: { why: "the number of tables opened at once is chosen by the server" },
      reason: "Clients of the contract look for the key.",
    },
  },
  http: {
    addr: {
      key: "http.addr",
      kind: address,
      default: { host: "127.0.0.1", port: 4000 },
      reason: "Only this machine reaches a server nobody has configured yet.",
    },
    timeoutMs: {
      key: "http.timeout",
      kind: duration(0, DAY_MS),
      default: durationMillis(0),
      reason: "0s: requests have no time limit.",
    },
    bodyBytesMax: {
      key: "http.body_limit",
      kind: size(0, 4 * GIB),
      default: byteLength(64 * MIB),
      reason: "Limit of a decompressed body; 0 is none. 64 MiB is twenty of the large batches that collectors send.",
    },
    isStrictMode: {
      key: "http.is_strict_mode",
      kind: bool,
      default: false,
      inert: { why: "prom_store.prom_validation_mode says how Prometheus writes are checked", neutral: false },
      reason: "Clients of the contract look for the key.",
    },
    corsAllowedOrigins: {
      key: "http.cors_allowed_origins",
      kind: origins,
      default: [],
      reason: 'Origins whose pages may use the server from a browser. Empty: its own alone, since a page can drop tables; ["*"]: any.',
    },
    allowedHosts: {
      key: "http.allowed_hosts",
      kind: hosts,
      default: [],
      reason:
        "Names a loopback listener answers under besides localhost and loopback addresses: no foreign name shall be made to point here. " +
        "On other addresses: all names it answers under; empty is any.",
    },
    enableCors: { key: "http.enable_cors", kind: bool, default: true, reason: "Pages of the origins above read answers." },
    analyzeStream: {
      key: "http.experimental_enable_explain_analyze_stream",
      kind: bool,
      default: true,
      reason: "Tools watch a slow query's operators at /v1/sql/analyze/stream while it runs; false: the path answers 404.",
    },
    publicAdmin: {
      key: "http.public_admin",
      kind: bool,
      default: false,
      reason: "With a user provider, /config and /debug/* need credentials unless this is true.",
    },
  },
  influxdb: {
    enable: { key: "influxdb.enable", kind: bool, default: true, reason: "Line protocol works out of the box." },
    defaultMergeMode: {
      key: "influxdb.default_merge_mode",
      kind: choice("last_non_null", "last_row"),
      default: "last_non_null",
      reason: "Line protocol sends some fields of a point now and others later; the fields of both stay.",
    },
  },
  opentsdb: {
    enable: { key: "opentsdb.enable", kind: bool, default: true, reason: "Puts over HTTP work out of the box." },
    addr: {
      key: "opentsdb.addr",
      kind: optional(address),
      default: undefined,
      example: { host: "127.0.0.1", port: 4242 },
      reason: "Where put lines are taken over TCP, by custom at 127.0.0.1:4242. Unset: nowhere, since lines carry no credentials.",
    },
    allowUnauthenticated: {
      key: "opentsdb.allow_unauthenticated",
      kind: bool,
      default: false,
      reason: "With a user provider, opentsdb.addr is refused unless this is true: whoever reaches the port writes.",
    },
  },
  jaeger: {
    enable: {
      key: "jaeger.enable",
      kind: bool,
      default: true,
      reason: "Traces that came over OTLP can be asked for as Jaeger's page does.",
    },
  },
  grpc: {
    enable: { key: "grpc.enable", kind: bool, default: true, reason: "Ingesters, Arrow Flight and OTLP over gRPC work out of the box." },
    addr: {
      key: "grpc.bind_addr",
      kind: address,
      default: { host: "127.0.0.1", port: 4001 },
      reason: "Only this machine reaches a server nobody has configured yet.",
    },
    receiveBytesMax: {
      key: "grpc.max_recv_message_size",
      kind: size(1024, GRPC_MESSAGE_BYTES_MAX),
      default: 512 * MIB,
      reason: "As clients expect. A longer message is refused before it is held.",
    },
    sendBytesMax: {
      key: "grpc.max_send_message_size",
      kind: size(1024, GRPC_MESSAGE_BYTES_MAX),
      default: 512 * MIB,
      reason: "As clients expect. A query answers in many messages.",
    },
    flightCompression: {
      key: "grpc.flight_compression",
      kind: choice("none", "transport", "arrow_ipc", "all"),
      default: "arrow_ipc",
      reason: "Of Flight's batches: their buffers with LZ4, which all readers know and which costs little.",
    },
    tlsMode: {
      key: "grpc.tls.mode",
      kind: tlsMode,
      default: "disable",
      reason: "There is no certificate out of the box. prefer: clients may encrypt; require and those behind it: they must.",
    },
    tlsCertPath: { key: "grpc.tls.cert_path", kind: filePath, default: "", reason: "The certificate and those that signed it, as PEM." },
    tlsKeyPath: { key: "grpc.tls.key_path", kind: filePath, default: "", reason: "The certificate's private key, as PEM." },
    tlsWatch: {
      key: "grpc.tls.watch",
      kind: bool,
      default: false,
      reason: "true: connections made after the files changed have the new certificate.",
    },
  },
  mysql: {
    enable: { key: "mysql.enable", kind: bool, default: true, reason: "MySQL's clients, drivers and tools work out of the box." },
    addr: {
      key: "mysql.addr",
      kind: address,
      default: { host: "127.0.0.1", port: 4002 },
      reason: "Only this machine reaches a server nobody has configured yet.",
    },
    keepAliveMs: {
      key: "mysql.keep_alive",
      kind: duration(0, DAY_MS),
      default: durationMillis(0),
      reason: "Time between probes that find clients whose machine is gone; 0s is none, as the system does without.",
    },
    rejectNoDatabase: {
      key: "mysql.reject_no_database",
      kind: bool,
      default: false,
      reason: "A client that names no database has `public`; true: it is refused.",
    },
    preparedStmtCacheSize: {
      key: "mysql.prepared_stmt_cache_size",
      kind: int(1, 1_000_000),
      default: 10_000,
      reason: "Most prepared statements of a connection: each holds its tree. Further ones are refused.",
    },
    tlsMode: {
      key: "mysql.tls.mode",
      kind: tlsMode,
      default: "disable",
      reason: "There is no certificate out of the box. prefer: clients may encrypt; require and those behind it: they must.",
    },
    tlsCertPath: {
      key: "mysql.tls.cert_path",
      kind: filePath,
      default: "",
      reason: "The certificate and those that signed it, as PEM.",
    },
    tlsKeyPath: { key: "mysql.tls.key_path", kind: filePath, default: "", reason: "The certificate's private key, as PEM." },
    tlsWatch: {
      key: "mysql.tls.watch",
      kind: bool,
      default: false,
      reason: "true: connections made after the files changed have the new certificate.",
    },
  },
  postgres: {
    enable: {
      key: "postgres.enable",
      kind: bool,
      default: true,
      reason: "PostgreSQL's clients, drivers and tools work out of the box.",
    },
    addr: {
      key: "postgres.addr",
      kind: address,
      default: { host: "127.0.0.1", port: 4003 },
      reason: "Only this machine reaches a server nobody has configured yet.",
    },
    keepAliveMs: {
      key: "postgres.keep_alive",
      kind: duration(0, DAY_MS),
      default: durationMillis(0),
      reason: "Time between probes that find clients whose machine is gone; 0s is none, as the system does without.",
    },
    authMethod: {
      key: "postgres.auth_method",
      kind: choice("auto", "password", "md5"),
      default: "auto",
      reason: "auto: SCRAM-SHA-256 where all accounts allow it, else the password; md5 is for old clients and accounts stored plain.",
    },
    tlsMode: {
      key: "postgres.tls.mode",
      kind: tlsMode,
      default: "disable",
      reason: "There is no certificate out of the box. prefer: clients may encrypt; require and those behind it: they must.",
    },
    tlsCertPath: {
      key: "postgres.tls.cert_path",
      kind: filePath,
      default: "",
      reason: "The certificate and those that signed it, as PEM.",
    },
    tlsKeyPath: { key: "postgres.tls.key_path", kind: filePath, default: "", reason: "The certificate's private key, as PEM." },
    tlsWatch: {
      key: "postgres.tls.watch",
      kind: bool,
      default: false,
      reason: "true: connections made after the files changed have the new certificate.",
    },
  },
  prom_store: {
    enable: { key: "prom_store.enable", kind: bool, default: true, reason: "Prometheus can write and read out of the box." },
    withMetricEngine: {
      key: "prom_store.with_metric_engine",
      kind: bool,
      default: true,
      reason: "Thousands of small tables share one physical table: one log record, file and flush for all metrics of a request.",
    },
    validationMode: {
      key: "prom_store.prom_validation_mode",
      kind: choice("strict", "lossy", "unchecked"),
      default: "strict",
      reason: "Labels that are not UTF-8 are refused. lossy and unchecked replace what is not.",
    },
    nativeHistograms: {
      key: "prom_store.experimental_enable_prometheus_native_histogram",
      kind: bool,
      default: false,
      reason: "Native histograms of remote write 2.0 are refused; true stores each as one STRUCT, a metric a table.",
    },
  },
  wal: {
    dir: {
      key: "wal.dir",
      kind: path,
      default: "./varve_data/wal",
      derive: (storage) => `${storage.dataHome.replace(/(?<=.)\/+$/, "")}/wal`,
      reason: "Folder of the write-ahead log: beside the data unless another disk is given.",
    },
    sync: {
      key: "wal.sync",
      kind: choice("always", "interval", "never"),
      default: "always",
      reason: "Acknowledged means on disk. The other two trade that for speed: a power cut loses what was not synced.",
    },
    syncIntervalMs: {
      key: "wal.sync_interval",
      kind: duration(1, 10 * MINUTE_MS),
      default: durationMillis(SECOND_MS),
      reason: "What a power cut may lose with wal.sync = interval.",
    },
    segmentBytes: {
      key: "wal.segment_size",
      kind: size(64 * KIB, GIB),
      default: byteLength(64 * MIB),
      reason: "Space is given back by whole segments; half a memtable is fine enough.",
    },
    recovery: {
      key: "wal.recovery",
      kind: choice("strict", "skip_corrupt"),
      default: "strict",
      reason: "strict refuses to start over damage inside the log or missing parts of it; skip_corrupt starts and logs what it lost.",
    },
  },
  storage: {
    dataHome: { key: "storage.data_home", kind: path, default: "./varve_data", reason: "Everything the server stores." },
    copyRoot: {
      key: "storage.copy_root",
      kind: path,
      default: "./varve_data/copy",
      derive: (storage) => `${storage.dataHome.replace(/(?<=.)\/+$/, "")}/copy`,
      reason:
        "Folder that COPY and external tables may read and write, and nothing outside it: who may write SQL shall not reach other files.",
    },
    copyEndpoints: {
      key: "storage.copy_endpoints",
      kind: endpoints,
      default: [],
      reason:
        "Stores that COPY and external tables may reach, such as https://s3.eu-central-1.amazonaws.com or https://*.example.com; none: " +
        "who may write SQL shall not reach the server's network. Addresses of the machine itself only where they are listed as such.",
    },
    type: {
      key: "storage.type",
      kind: choice("File", "S3"),
      default: "File",
      reason:
        "File: data files lie in the data directory. S3: in a bucket of an S3-compatible store, with copies of those in use; the log " +
        "and what names the files stay here.",
    },
    shards: {
      key: "storage.shards",
      kind: int(1, 1024),
      default: 1,
      reason:
        "Parts of this process that the series of tables are spread over: as many as when the data was made. One is fastest, since only " +
        "then queries use several threads.",
    },
    bucket: { key: "storage.bucket", kind: optional(bucket), default: undefined, example: "metrics", reason: "The bucket; it must exist." },
    root: {
      key: "storage.root",
      kind: optional(objectRoot),
      default: undefined,
      example: "varve/one",
      reason: "Before the names of all objects. Each data directory needs one of its own.",
    },
    endpoint: {
      key: "storage.endpoint",
      kind: optional(endpoint),
      default: undefined,
      example: "https://s3.example.com:9000",
      secret: true,
      reason: "Where the store answers. Unset: Amazon's, in storage.region.",
    },
    region: {
      key: "storage.region",
      kind: optional(region),
      default: undefined,
      example: "eu-central-1",
      reason: "What requests are signed for. Unset: us-east-1, which other stores than Amazon's mostly take.",
    },
    accessKeyId: {
      key: "storage.access_key_id",
      kind: optional(accessKey),
      default: undefined,
      example: "varve",
      secret: true,
      reason: "Whose requests they are. Keys of the machine or of AWS_… variables are never used.",
    },
    secretAccessKey: {
      key: "storage.secret_access_key",
      kind: optional(accessKey),
      default: undefined,
      example: "secret",
      secret: true,
      reason: "Signs requests. It is never shown; VARVE__STORAGE__SECRET_ACCESS_KEY keeps it out of the file.",
    },
    isVirtualHost: {
      key: "storage.enable_virtual_host_style",
      kind: optional(bool),
      default: undefined,
      example: true,
      reason: "true: the bucket is named in the host, as some stores demand. Unset: in the path.",
    },
    cacheBytesMax: {
      key: "storage.cache_capacity",
      kind: size(MIB, 1024 * TIB),
      default: byteLength(5 * GIB),
      reason: "Copies of the store's files in the data directory. What queries ask for again and again should fit; a merge's files must.",
    },
    memtableBytes: {
      key: "storage.memtable_size",
      kind: size(64 * KIB, 64 * GIB),
      default: byteLength(MEMTABLE_BYTES),
      reason: "A flush starts over this. Larger files compress and scan better; 32 MiB keeps a busy server near 600 MiB.",
    },
    writeBufferBytesMax: {
      key: "storage.write_buffer_limit",
      kind: size(64 * KIB, TIB),
      default: byteLength(WRITE_BUFFER_MEMTABLES * MEMTABLE_BYTES),
      derive: (storage) => byteLength(WRITE_BUFFER_MEMTABLES * storage.memtableBytes),
      reason: "Writers wait over this: one memtable fills, one is flushed, the rest is slack for a slow disk.",
    },
    flushIntervalMs: {
      key: "storage.flush_interval",
      kind: duration(0, 7 * DAY_MS),
      default: durationMillis(30 * MINUTE_MS),
      reason: "A memtable older than this is flushed although small, so that the log can be trimmed; 0s is never.",
    },
    compaction: {
      key: "storage.compaction",
      kind: bool,
      default: true,
      reason: "Small files become larger ones, and expired rows leave; false leaves that to ADMIN compact_table.",
    },
    compactionTriggerFiles: {
      key: "storage.compaction_trigger",
      kind: int(2, 1000),
      default: 4,
      reason:
        "Files of a time window that merge, four times as many while rows pour in; a table's compaction.twcs.trigger_file_num is exact.",
    },
    freeBytesMin: {
      key: "storage.free_space_min",
      kind: size(0, TIB),
      default: byteLength(128 * MIB),
      reason: "Below this much free space writes are refused, so that flushes can still finish, which shorten the log; 0KiB is no reserve.",
    },
  },
  write: {
    stallTimeoutMs: {
      key: "write.stall_timeout",
      kind: duration(0, 10 * MINUTE_MS),
      default: durationMillis(10 * SECOND_MS),
      reason: "How long a writer over the memory limit waits before it is told to come back later.",
    },
  },
  ingest: {
    threads: {
      key: "ingest.threads",
      kind: int(0, INGEST_THREADS_MAX),
      default: 0,
      reason:
        "Threads that take writes, each with a listener and a log; 0 is one for every two cores: flushes, merges, queries need the rest.",
    },
  },
  logging: {
    level: {
      key: "logging.level",
      kind: logLevel,
      default: { level: "info", targets: new Map() },
      reason: "Log lines go to stderr; /debug/log_level changes the filter while the server runs.",
    },
    format: {
      key: "logging.log_format",
      kind: choice("auto", "text", "json"),
      default: "auto",
      reason: "How log lines are written: auto is words for people on a terminal and JSON for programs on a pipe or in a file.",
    },
    otlpTracing: {
      key: "logging.enable_otlp_tracing",
      kind: bool,
      default: false,
      reason: "True: requests, statements, flushes and merges are traced from the start; /debug/enable_trace switches that.",
    },
    otlpEndpoint: {
      key: "logging.otlp_endpoint",
      kind: traceEndpoint,
      default: "http://localhost:4318/v1/traces",
      secret: true,
      reason:
        "Where traces go, by OTLP over HTTP: where a collector listens by custom. A name and a password in it are sent as credentials.",
    },
    sampleRatio: {
      key: "logging.tracing_sample_ratio.default_ratio",
      kind: ratio,
      default: 1,
      reason: "Part of the traces that begin here which are recorded; those that clients began are as the client says.",
    },
  },
  slow_query: {
    enable: {
      key: "slow_query.enable",
      kind: bool,
      default: true,
      reason: "Statements that were slow get a line in the log, at level warn.",
    },
    thresholdMs: {
      key: "slow_query.threshold",
      kind: duration(0, DAY_MS),
      default: durationMillis(30 * SECOND_MS),
      reason: "A statement is slow from this time of work on; what it waits for a client that reads slowly does not count.",
    },
    sampleRatio: {
      key: "slow_query.sample_ratio",
      kind: ratio,
      default: 1,
      reason: "Part of the slow statements that is logged; less than all of them keeps the log short.",
    },
    recordType: {
      key: "slow_query.record_type",
      kind: choice("system_table", "log"),
      default: "system_table",
      reason: "What is logged is a row of greptime_private.slow_queries as well, so that SQL finds it; log: a line alone.",
    },
    ttlMs: {
      key: "slow_query.ttl",
      kind: duration(0, 3650 * DAY_MS),
      default: durationMillis(90 * DAY_MS),
      reason: "How long its rows are kept, from when the table is made; 0s: for ever.",
    },
  },
  query: {
    timeoutMs: {
      key: "query.timeout",
      kind: duration(0, DAY_MS),
      default: durationMillis(5 * MINUTE_MS),
      reason: "A forgotten statement does not run for ever; 0s is no limit.",
    },
    memoryBytesMax: {
      key: "query.memory_limit",
      kind: size(0, TIB),
      default: byteLength(GIB),
      reason:
        "Memory one statement may hold for sorting, grouping and joining; from half of it on, rows go to query.spill_dir. 0 is no limit.",
    },
    planCacheBytesMax: {
      key: "query.plan_cache_size",
      kind: size(0, TIB),
      default: byteLength(8 * MIB),
      reason:
        "Memory for plans of queries, used again where a query of one table has other constants in WHERE: some 1,000 plans. 0 keeps none.",
    },
    spillBytesMax: {
      key: "query.spill_limit",
      kind: size(0, 64 * TIB),
      default: byteLength(16 * GIB),
      reason: "Disk that all statements together may take for rows that do not fit in memory, beside storage.free_space_min; 0KiB is none.",
    },
    spillDir: {
      key: "query.spill_dir",
      kind: path,
      default: "./varve_data/tmp",
      derive: (storage) => `${storage.dataHome.replace(/(?<=.)\/+$/, "")}/tmp`,
      reason: "Folder of these rows: beside the data unless another disk is given. Its files have no names and end with their statement.",
    },
    workers: {
      key: "query.workers",
      kind: optional(int(0, QUERY_WORKERS_MAX)),
      default: undefined,
      example: 2,
      reason: "Threads that read large tables for queries beside writes; unset is one a core but two, 0 is none.",
    },
    helps: {
      key: "query.helper",
      kind: bool,
      default: false,
      reason: "Where query.workers is unset and gives none, a thread takes half of long aggregations, and a third of the pages' memory.",
    },
    rehearses: {
      key: "query.rehearsal",
      kind: bool,
      default: true,
      reason:
        "After the start queries on own data, then on the newest rows, of which half of the page cache is read: a client's first is fast.",
    },
    promqlSamplesMax: {
      key: "query.promql.samples",
      kind: int(0, PROMQL_COUNT_MAX),
      default: 50_000_000,
      reason: "Samples one PromQL query may read, as in Prometheus; a query over everything ends early. 0 is no limit.",
    },
    promqlSeriesMax: {
      key: "query.promql.series",
      kind: int(0, PROMQL_COUNT_MAX),
      default: 1_000_000,
      reason: "Series one PromQL query may read; no graph shows more, and each costs labels. 0 is no limit.",
    },
    promqlPointsMax: {
      key: "query.promql.points",
      kind: int(0, PROMQL_COUNT_MAX),
      default: 11_000,
      reason:
        "Points of a series of query_range, as in Prometheus: a year by the hour; rows of TQL and /v1/promql have none. 0 is no limit.",
    },
    promqlTimeoutMs: {
      key: "query.promql.timeout",
      kind: duration(0, DAY_MS),
      default: durationMillis(2 * MINUTE_MS),
      reason:
        "Longest a PromQL query runs, TQL and /v1/promql too; clients of query and query_range may ask for less. 0s: query.timeout alone.",
    },
    promqlLookbackMs: {
      key: "query.promql.lookback",
      kind: duration(1, DAY_MS),
      default: durationMillis(5 * MINUTE_MS),
      reason: "How far back a selector of PromQL looks for a sample, as in Prometheus; more than two scrapes, so that one may be missed.",
    },
  },
  memory: {
    bytesMax: {
      key: "memory.limit",
      kind: size(0, 64 * TIB),
      default: byteLength(0),
      reason: "Memory that bodies, rows, pages and queries may take together; 0KiB: half of what the machine or its container has.",
    },
  },
  cluster: CLUSTER_KNOBS,
};

/** Every knob, in the order of `/config`. */
export const ALL_KNOBS: readonly Knob<unknown>[] = Object.values(KNOBS).flatMap(
  (section): readonly Knob<unknown>[] => Object.values(section) as readonly Knob<unknown>[],
);

/** Every knob by its key. */
export const KNOB_OF_KEY: ReadonlyMap<string, Knob<unknown>> = new Map(ALL_KNOBS.map((knob) => [knob.key, knob]));
