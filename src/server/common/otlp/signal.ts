/** What metrics, traces and logs of OTLP differ in, as the servers that take all three see them. */
import type { RequestName } from "../../../ingest/otlp/json.ts";
import type { RecordForm } from "../../../ingest/otlp/parts.ts";
import type { OtlpResult } from "../../../ingest/otlp/types.ts";
import type { WriteBatch, WriteOptions } from "../../../table/write-batch.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ServerMemory } from "../../../base/memory/server-memory.ts";
import type { IngestDb } from "../../../db/db.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import type { WriteSettings } from "../write-options.ts";

/** What signals go by. */
export interface OtlpOptions extends WriteSettings {
  readonly db: IngestDb;
  readonly clock: Clock;
  /** Where decoders are counted. */
  readonly memory: ServerMemory;
  readonly prometheus: { readonly metricEngine: boolean };
}

/** A request, whatever protocol carries it. */
export interface OtlpAsk {
  /** Headers of HTTP, metadata of gRPC: the same names. */
  readonly headers: Headers;
  readonly database: string;
  /** The query of its address, as it came; empty where the protocol has none. */
  readonly query: string;
  /** Fires when the client leaves or the time is up. */
  readonly signal: AbortSignal;
}

/** A decoded request and how it is written. */
export interface OtlpWrite {
  readonly result: OtlpResult;
  readonly options: WriteOptions;
  /** Message of the partial success; by default the reasons. */
  readonly message?: string;
  /** Whether a request of which nothing is kept is an error (traces). */
  readonly refusesAllRejected?: boolean;
  /** Rows that are written once those of the result are durable. */
  readonly after?: { readonly batch: WriteBatch; readonly options: WriteOptions };
}

/** One of the three kinds of request. */
export interface OtlpSignal {
  /** What its records are. */
  readonly form: RecordForm;
  readonly name: "metrics" | "traces" | "logs";
  readonly request: RequestName;
  /** Name of the count in a partial success in JSON. */
  readonly rejectedName: string;
  /** Reads the headers, before the body is read; what it returns takes the body. @throws DbError */
  open(ask: OtlpAsk, accepted: AcceptedWrite): OtlpPath | Promise<OtlpPath>;
}

/** What became of a request. */
export interface OtlpOutcome {
  readonly rowCount: number;
  readonly rejectedCount: number;
  readonly message: string;
}

/** Reads the request in protobuf. @throws DbError InvalidArguments when the body is no request */
export type ReadRequest = <T>(read: (protobuf: Uint8Array) => T) => T;

/** A request that is decoded, whole or in parts (ingest/otlp/parts.ts). */
export interface OtlpBody {
  /** Looks at the request, or at each of its parts, before any is decoded. @throws ProtoError, DbError for one that is refused whole */
  look(body: Uint8Array): void;
  /** Decodes it, or a part. @throws ProtoError */
  decode(body: Uint8Array): OtlpWrite;
}

/** How a body is taken: decoded to a batch, or by a writer of its own that reads the request whenever it needs it. */
export type OtlpPath =
  | { readonly kind: "decoded"; readonly begin: () => OtlpBody }
  | { readonly kind: "whole"; readonly write: (read: ReadRequest) => Promise<OtlpOutcome> };
