/** The workloads of `bun bench grpc`: what each sends, how much of it, and what it should reach. */
import type { Load } from "./load-plan.ts";

/** Names for `--only`, in the order in which they are measured. */
export const GRPC_WORKLOADS = ["transport", "rows", "columns", "rows-stream", "doput", "doput-text", "doget", "otlp"] as const;

/** One of them. */
export type GrpcWorkload = (typeof GRPC_WORKLOADS)[number];

/** What is measured: a line of the table. */
export interface GrpcCase {
  readonly name: string;
  readonly load: Load;
  readonly connections: number;
  readonly rowsPerMessage: number;
  /** Rows, as a multiple of `--rows`: so that every case takes seconds. */
  readonly share: number;
  /** Where its rows are to be found. Absent: nowhere. */
  readonly table?: string;
  /** Compression of answers (`grpc.flight_compression`). Absent: the server's choice. */
  readonly compression?: "none";
  /** Rows a second to reach. */
  readonly target?: number;
  /** The case that sends the same over HTTP/1.1, measured just before. */
  readonly besideHttp?: string;
}

const DOPUT_ROWS = 65_536;
const OTLP_CONNECTIONS = 8;

const native = { connections: 8, rowsPerMessage: 1000, share: 1, table: "cpu_native", target: 300_000 };
const put = { rowsPerMessage: DOPUT_ROWS, table: "cpu", target: 3_000_000 };
const get = { load: "doget", rowsPerMessage: 1, share: 10, target: 5_000_000 } as const;

function otlp(signal: "metrics" | "logs" | "traces", table: string, share: number): readonly GrpcCase[] {
  const load = `otlp-${signal}` as const;
  const shape = { connections: OTLP_CONNECTIONS, rowsPerMessage: 1000, share, table };
  const http = `${load} over HTTP`;
  return [
    { ...shape, name: http, load: `${load}-http` },
    { ...shape, name: load, load, besideHttp: http },
  ];
}

/** The cases of each workload. */
export const GRPC_CASES: Readonly<Record<GrpcWorkload, readonly GrpcCase[]>> = {
  transport: [{ name: "transport", load: "transport", connections: 8, rowsPerMessage: 1000, share: 1 }],
  rows: [{ ...native, name: "rows", load: "rows" }],
  columns: [{ ...native, name: "columns", load: "columns" }],
  "rows-stream": [{ ...native, name: "rows-stream", load: "rows-stream" }],
  doput: [1, 4].map((connections) => ({ ...put, name: "doput", load: "doput", connections, share: 10 })),
  "doput-text": [1, 4].map((connections) => ({ ...put, name: "doput-text", load: "doput-text", connections, share: 4 })),
  doget: [1, 2].flatMap((connections) => [
    { ...get, name: "doget", connections },
    { ...get, name: "doget, not compressed", connections, compression: "none" as const },
  ]),
  otlp: [
    ...otlp("metrics", "greptime_physical_table", 1),
    ...otlp("logs", "opentelemetry_logs", 0.25),
    ...otlp("traces", "opentelemetry_traces", 0.25),
  ],
};
