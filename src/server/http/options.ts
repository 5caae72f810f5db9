/**
 * What the HTTP server is made of: everything it needs comes in here.
 */
import type { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { LogFilter, Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ProfiledThreads } from "../../base/profile/thread-profiles.ts";
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import type { Tracer } from "../../base/trace/tracer.ts";
import type { UserProvider } from "../../db/auth/user.ts";
import type { Db, IngestDb } from "../../db/db.ts";
import type { DecodeOptions, DecodeResult } from "../../ingest/influx/types.ts";
import type { ValidationMode } from "../../ingest/prometheus/types.ts";
import type { ConnectionMarks } from "../connections/marks.ts";
import type { PaceLimits } from "./limits.ts";

/** Who this server is, for `/`, `/status` and `greptime_app_version`. */
export interface BuildInfo {
  /** Name on the index page. */
  readonly product: string;
  /** Label `app`, e.g. "greptime-standalone". */
  readonly app: string;
  readonly version: string;
  readonly commit: string;
  /** May be empty. */
  readonly branch: string;
  /** Runtime and its version, shown as `rustc_version` since clients expect that key. */
  readonly runtime: string;
  readonly hostname: string;
}

/** A decoder of line protocol that keeps what it learnt of one database. `decode` borrows its result until the next call. */
export interface LineDecoder {
  decode(bytes: Uint8Array, options: DecodeOptions): DecodeResult;
  /** Bytes that it keeps for the next request. */
  readonly memoryBytes: number;
}

/** Settings of the InfluxDB endpoints. */
export interface InfluxOptions {
  readonly enabled: boolean;
  /** Merge mode of tables made by writes. */
  readonly defaultMergeMode: "last_non_null" | "last_row";
  /** Name of the time index of tables made by writes. */
  readonly timeColumn: string;
  createDecoder(): LineDecoder;
}

/** Settings of the Prometheus endpoints. */
export interface PrometheusOptions {
  readonly enabled: boolean;
  /** False: every metric is an ordinary table. */
  readonly metricEngine: boolean;
  readonly validation: ValidationMode;
  /** Names of the columns of tables made by writes. */
  readonly timeColumn: string;
  readonly valueColumn: string;
  /** Column of native histograms; undefined: they are refused. */
  readonly histogramColumn?: string | undefined;
}

/** The log filter in force, and how to change it. */
export interface LogControl {
  readonly filter: LogFilter;
  setFilter(filter: LogFilter): void;
}

/** What a listener needs that takes writes: the one of an ingest thread has no more than this. */
export interface IngestServerOptions {
  /** Address to listen on, e.g. "127.0.0.1". */
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  /** True: other threads of this process listen on the same address, and the system spreads connections over them. */
  readonly sharesPort: boolean;
  /** "api" serves `/v1` and `/dashboard` only (the second listener). */
  readonly surface: "all" | "api";
  readonly db: IngestDb;
  /** undefined = no credentials needed. */
  readonly userProvider: UserProvider | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Of the thread that serves. */
  readonly scheduler: Scheduler;
  readonly metrics: MetricRegistry;
  /** Largest request body in bytes, as sent and after decompression; 0 = unlimited. */
  readonly bodyBytesMax: number;
  /** Bytes of all request bodies being worked on, as sent and as they unfold; 0 = unlimited. */
  readonly inFlightBytesMax: number;
  /** Milliseconds that a request waits for room among them; 0 = it is refused at once. */
  readonly inFlightWaitMs: number;
  /** How slowly bodies may come in and answers be taken; absent: as `limits.ts` says. Tests make it shorter. */
  readonly pace?: PaceLimits;
  /** Where it is said which connections have a request under way; absent: nobody drops any. */
  readonly marks?: ConnectionMarks;
  /** Records requests and what is done for them; absent: nobody does. */
  readonly tracer?: Tracer;
  /** Where bodies and decoders are counted. */
  readonly memory: ServerMemory;
  /** Milliseconds a request may take; 0 = no timeout, and then `x-greptime-timeout` has no effect. */
  readonly timeoutMs: number;
  /** `/config` and `/debug/*` need no credentials even when a user provider is set. */
  readonly publicAdmin: boolean;
  /** Origins whose pages may use the server; empty: its own, "*": any. Without `enabled` they count as none. */
  readonly cors: { readonly enabled: boolean; readonly origins: readonly string[] };
  /** Names besides its own that a loopback listener answers under; elsewhere, where there are some, all that it answers under. */
  readonly allowedHosts: readonly string[];
  /** False: no write makes a table or a column, whatever its hints say. */
  readonly autoCreateTable: boolean;
  readonly influx: InfluxOptions;
  /** The put endpoint of OpenTSDB. */
  readonly opentsdb: { readonly enabled: boolean };
  readonly prometheus: PrometheusOptions;
  /** Called once a broken invariant was answered with 500: the process should stop. */
  onBug(error: AssertionError): void;
}

/** Everything `startHttpServer` needs. */
export interface HttpServerOptions extends IngestServerOptions {
  readonly db: Db;
  readonly build: BuildInfo;
  /** The effective configuration as TOML, passwords masked. */
  configText(): string;
  readonly log: LogControl;
  /** Where the dashboard's built files are. */
  readonly dashboardFolder: string;
  /** Switches traces of all threads; absent: there is nothing to switch. */
  setTracing?(isOn: boolean): void;
  /** Other threads that CPU profiles have in them; absent: none. */
  readonly profiledThreads?: ProfiledThreads;
  /** Whether figures of a query that runs are streamed. */
  readonly analyzeStream: boolean;
  /** Jaeger's query API. */
  readonly jaeger: { readonly enabled: boolean };
}
