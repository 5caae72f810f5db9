/** The effective settings: what every other part of the server is configured with. Keys, defaults and reasons are in `knobs.ts`. */
import type { LogFilter } from "../base/log.ts";
import type { ByteLength, DurationMillis } from "../base/units.ts";
import type { Address } from "./address.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import type { ExhaustedPolicy } from "./exhausted-policy.ts";

/** Top-level keys. */
export interface GeneralSettings {
  /** Has no effect: Varve sends no telemetry. */
  readonly enableTelemetry: boolean;
  /** Time zone of the server as clients see it; sessions start in UTC whatever it is. */
  readonly defaultTimezone: string | undefined;
  /** False: a write never makes a table or a column, whatever its hints say. */
  readonly autoCreateTable: boolean;
  /** Bytes of request bodies that are worked on at once; 0: 256 MiB, at most a quarter of the server's memory limit. */
  readonly inFlightBytesMax: ByteLength;
  /** What happens to a request beyond that. */
  readonly inFlightPolicy: ExhaustedPolicy;
  /** The provider string with its passwords; show it only through `maskUserProvider`. Undefined: no authentication. */
  readonly userProvider: string | undefined;
  /** Has no effect: tables are opened before the server listens. */
  readonly initRegionsInBackground: boolean;
  /** Has no effect, as above. */
  readonly initRegionsParallelism: number;
}

/** `[http]`. */
export interface HttpSettings {
  readonly addr: Address;
  /** 0: requests have no time limit, and the per-request header is ignored. */
  readonly timeoutMs: DurationMillis;
  /** Limit of a decompressed body; 0: none. */
  readonly bodyBytesMax: ByteLength;
  /** Has no effect: `prom_store.prom_validation_mode` has. */
  readonly isStrictMode: boolean;
  /** Origins whose pages may use the server; empty: its own, "*": any. */
  readonly corsAllowedOrigins: readonly string[];
  /** Names in `Host` that a listener on loopback answers under besides loopback names; elsewhere all names, where there are some. */
  readonly allowedHosts: readonly string[];
  readonly enableCors: boolean;
  /** False: the path of streamed figures answers 404. */
  readonly analyzeStream: boolean;
  /** True: `/config` and `/debug/*` need no credentials although a user provider is set. */
  readonly publicAdmin: boolean;
}

/** `[influxdb]`. */
export interface InfluxdbSettings {
  /** False: the routes answer 404. */
  readonly enable: boolean;
  /** Merge mode of tables that line protocol creates. */
  readonly defaultMergeMode: "last_non_null" | "last_row";
}

/** `[opentsdb]`. */
export interface OpentsdbSettings {
  /** False: the route answers 404. */
  readonly enable: boolean;
  /** Where lines are taken over TCP; undefined: nowhere. */
  readonly addr: Address | undefined;
  /** True: lines are taken over TCP although a user provider is set; they carry no credentials. */
  readonly allowUnauthenticated: boolean;
}

/** `[jaeger]`. */
export interface JaegerSettings {
  /** False: the routes answer 404. */
  readonly enable: boolean;
}

/** How a wire server encrypts: "prefer" lets clients choose, those behind it refuse what is plain. Certificates of clients do not count. */
export type TlsMode = "disable" | "prefer" | "require" | "verify_ca" | "verify_full";

/** `[grpc]`. */
export interface GrpcSettings {
  /** False: nothing listens. */
  readonly enable: boolean;
  readonly addr: Address;
  /** Most bytes of a message that comes in, and of one that goes out. */
  readonly receiveBytesMax: number;
  readonly sendBytesMax: number;
  /** What of Arrow Flight is compressed: the messages as gRPC does, the buffers of batches, both. */
  readonly flightCompression: "none" | "transport" | "arrow_ipc" | "all";
  readonly tlsMode: TlsMode;
  /** Files; empty: none. */
  readonly tlsCertPath: string;
  readonly tlsKeyPath: string;
  /** True: the files are read again when they change. */
  readonly tlsWatch: boolean;
}

/** `[mysql]`. */
export interface MysqlSettings {
  /** False: nothing listens. */
  readonly enable: boolean;
  readonly addr: Address;
  /** Between probes of whether a client's machine is there; 0: none. */
  readonly keepAliveMs: DurationMillis;
  /** True: a client that names no database is refused. */
  readonly rejectNoDatabase: boolean;
  /** Most prepared statements of a connection. */
  readonly preparedStmtCacheSize: number;
  readonly tlsMode: TlsMode;
  /** Files; empty: none. */
  readonly tlsCertPath: string;
  readonly tlsKeyPath: string;
  /** True: the files are read again when they change. */
  readonly tlsWatch: boolean;
}

/** `[postgres]`. */
export interface PostgresSettings {
  /** False: nothing listens. */
  readonly enable: boolean;
  readonly addr: Address;
  /** Between probes of whether a client's machine is there; 0: none. */
  readonly keepAliveMs: DurationMillis;
  /** How clients are asked who they are, where there is a user provider. */
  readonly authMethod: "auto" | "password" | "md5";
  readonly tlsMode: TlsMode;
  /** Files; empty: none. */
  readonly tlsCertPath: string;
  readonly tlsKeyPath: string;
  /** True: the files are read again when they change. */
  readonly tlsWatch: boolean;
}

/** `[prom_store]`. */
export interface PromStoreSettings {
  /** False: the routes answer 404. */
  readonly enable: boolean;
  /** False: every metric is an ordinary table. */
  readonly withMetricEngine: boolean;
  /** What is done about labels that are not UTF-8. */
  readonly validationMode: "strict" | "lossy" | "unchecked";
  /** False: native histograms of remote write 2.0 are refused. */
  readonly nativeHistograms: boolean;
}

/** When the log is on disk relative to the acknowledgement. */
export type WalSync = "always" | "interval" | "never";

/** What to do at start about damage inside the log (a torn tail is always repaired). */
export type WalRecovery = "strict" | "skip_corrupt";

/** `[wal]`. */
export interface WalSettings {
  /** Folder of the log's segments. */
  readonly dir: string;
  readonly sync: WalSync;
  /** Longest time between two syncs when `sync` is "interval". */
  readonly syncIntervalMs: DurationMillis;
  /** A segment is closed once it is this large. */
  readonly segmentBytes: ByteLength;
  readonly recovery: WalRecovery;
}

/** `[storage]`. */
export interface StorageSettings {
  readonly dataHome: string;
  /** The folder that local paths of COPY and external tables are confined to. */
  readonly copyRoot: string;
  /** Endpoints that COPY and external tables may reach over the network; empty: none. */
  readonly copyEndpoints: readonly string[];
  /** Where data files are: in the data directory, or in an S3-compatible store with copies there. */
  readonly type: "File" | "S3";
  readonly shards: number;
  /** Of the store; all but `bucket` and the keys may be left out. */
  readonly bucket: string | undefined;
  readonly root: string | undefined;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  /** Whether the bucket is named in the host. */
  readonly isVirtualHost: boolean | undefined;
  /** Bytes of copies of the store's files. */
  readonly cacheBytesMax: ByteLength;
  /** Bytes of memtables over which a flush starts. */
  readonly memtableBytes: ByteLength;
  /** Bytes of memtables over which writers wait. At least `memtableBytes`. */
  readonly writeBufferBytesMax: ByteLength;
  /** A memtable older than this is flushed although it is small; 0: never. */
  readonly flushIntervalMs: DurationMillis;
  /** Whether files are merged in the background. */
  readonly compaction: boolean;
  /** Files of a time window from which they are merged. */
  readonly compactionTriggerFiles: number;
  /** Writes are refused while a disk has less room than this; 0: never. */
  readonly freeBytesMin: ByteLength;
}

/** `[write]`. */
export interface WriteSettings {
  /** Longest wait of a writer over the memory limit; then RateLimited. */
  readonly stallTimeoutMs: DurationMillis;
}

/** `[ingest]`. */
export interface IngestSettings {
  /** Threads that take writes, the main thread among them; 0: as many as suit the machine's cores. */
  readonly threads: number;
}

/** `[logging]`. */
export interface LoggingSettings {
  readonly level: LogFilter;
  /** How lines are written. */
  readonly format: "auto" | "text" | "json";
  /** Whether the server traces itself from the start. */
  readonly otlpTracing: boolean;
  /** Where spans are posted to; may hold a name and a password. */
  readonly otlpEndpoint: string;
  /** Part of the traces that begin here, 0 to 1. */
  readonly sampleRatio: number;
}

/** `[slow_query]`. */
export interface SlowQuerySettings {
  /** Whether slow statements are logged. */
  readonly enable: boolean;
  /** A statement is slow from this time of work on. */
  readonly thresholdMs: DurationMillis;
  /** Part of the slow statements that is logged, 0 to 1. */
  readonly sampleRatio: number;
  /** Whether those that are logged are rows of a table as well. */
  readonly recordType: "system_table" | "log";
  /** How long its rows are kept; 0: for ever. Taken when the table is made. */
  readonly ttlMs: DurationMillis;
}

/** `[query]`. */
export interface QuerySettings {
  /** A statement is cancelled after this time; 0: never. */
  readonly timeoutMs: DurationMillis;
  /** Memory one statement may hold for sorting, grouping and joining; 0: no limit. */
  readonly memoryBytesMax: ByteLength;
  /** Memory for plans of statements that came lately; 0: every statement is planned. */
  readonly planCacheBytesMax: ByteLength;
  /** Bytes on disk that all statements together may take for rows that do not fit in memory; 0: none, and such statements fail. */
  readonly spillBytesMax: ByteLength;
  /** The folder of these. */
  readonly spillDir: string;
  /** Threads of large scans; undefined: one a core but one. */
  readonly workers: number | undefined;
  /** Whether a thread takes half of long aggregations where no core is left for workers. */
  readonly helps: boolean;
  /** Whether statements are rehearsed after the start. */
  readonly rehearses: boolean;
  /** Samples, and series, that one PromQL query may read; 0: no limit. */
  readonly promqlSamplesMax: number;
  readonly promqlSeriesMax: number;
  /** Points of a series that a range query of PromQL may have; 0: no limit. */
  readonly promqlPointsMax: number;
  /** A PromQL query is cancelled after this time; 0: as any statement. */
  readonly promqlTimeoutMs: DurationMillis;
  /** How far selectors of PromQL look back for a sample. */
  readonly promqlLookbackMs: DurationMillis;
}

/** `[memory]`. */
export interface MemorySettings {
  /** What the server may hold in memory; 0: half of what the machine or its container has. */
  readonly bytesMax: ByteLength;
}

/** All of them. `general` holds the keys outside any table. */
export interface Settings {
  readonly general: GeneralSettings;
  readonly http: HttpSettings;
  readonly influxdb: InfluxdbSettings;
  readonly opentsdb: OpentsdbSettings;
  readonly jaeger: JaegerSettings;
  readonly grpc: GrpcSettings;
  readonly mysql: MysqlSettings;
  readonly postgres: PostgresSettings;
  readonly prom_store: PromStoreSettings;
  readonly wal: WalSettings;
  readonly storage: StorageSettings;
  readonly write: WriteSettings;
  readonly ingest: IngestSettings;
  readonly logging: LoggingSettings;
  readonly slow_query: SlowQuerySettings;
  readonly query: QuerySettings;
  readonly memory: MemorySettings;
  readonly cluster: ClusterSettings;
}
