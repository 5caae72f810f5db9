/** What metrics, traces and logs of OTLP differ in, as the endpoint that takes all three sees them. */
import type { RequestName } from "../../ingest/otlp/json.ts";
import type { OtlpResult } from "../../ingest/otlp/types.ts";
import type { WriteBatch, WriteOptions } from "../../table/write-batch.ts";
import type { Exchange } from "./exchange.ts";
import type { WriteDoor } from "./write-door.ts";

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
  readonly name: "metrics" | "traces" | "logs";
  readonly request: RequestName;
  /** Name of the count in a partial success in JSON. */
  readonly rejectedName: string;
  /** Reads the headers, before the body is read; what it returns decodes the body. @throws DbError */
  open(exchange: Exchange, door: WriteDoor): (body: Uint8Array) => OtlpWrite;
}
