/** What the load generator of gRPC is told, and what it answers. */
import type { Dataset } from "../dataset.ts";

/** What is sent. "transport" is rows to a method that does nothing with them: the ceiling. Those that end in -http are for comparison. */
export const LOADS = [
  "transport",
  "rows",
  "columns",
  "rows-stream",
  "doput",
  "doput-text",
  "doget",
  "otlp-metrics",
  "otlp-metrics-http",
  "otlp-logs",
  "otlp-logs-http",
  "otlp-traces",
  "otlp-traces-http",
] as const;

/** One of them. */
export type Load = (typeof LOADS)[number];

/** One run of the load generator. */
export interface LoadPlan {
  readonly load: Load;
  readonly port: number;
  /** The server, whose processor time is read. */
  readonly serverPid: number;
  /** Rows in all messages; doget: rows of an answer. */
  readonly rows: number;
  readonly rowsPerMessage: number;
  readonly connections: number;
  /** What doput sends. */
  readonly dataset: Dataset;
  /** What doget asks, and how often. */
  readonly sql: string;
  readonly queries: number;
}

/** What one run measured, once it was warm. */
export interface LoadReport {
  /** Rows sent, those of the warm-up too: what must be there. */
  readonly rowsStored: number;
  /** Sum of one field over them; 0 where nobody compares it. */
  readonly sum: number;
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  readonly serverCpuSeconds: number;
  /** Of it, the main thread's: it has all connections. */
  readonly mainCpuSeconds: number;
  readonly loaderCpuSeconds: number;
  readonly serverRssBytesPeak: number;
}

/** What was sent, or received, in a part of a run. */
export interface Part {
  readonly rows: number;
  readonly bytes: number;
  readonly sum: number;
  /** Milliseconds from each message to its answer. */
  readonly ackMs: readonly number[];
}

/** A load on open connections. */
export interface Driver {
  /** Messages of a full run, or queries. */
  readonly units: number;
  /** Sends messages `[from, to)`. @throws Error when the server refuses one */
  run(from: number, to: number): Promise<Part>;
  close(): void;
}
