/** What metrics, traces and logs of OTLP differ in, as the endpoint that takes all three sees them. */
import type { RequestName } from "../../../../ingest/otlp/json.ts";
import type { OtlpResult } from "../../../../ingest/otlp/types.ts";
import type { WriteBatch, WriteOptions } from "../../../../table/write-batch.ts";
import type { Exchange } from "../../exchange.ts";
import type { Route } from "../../router.ts";
import type { AcceptedWrite } from "../accepted-write.ts";

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
  /** Reads the headers, before the body is read; what it returns takes the body. @throws DbError */
  open(exchange: Exchange, accepted: AcceptedWrite): OtlpPath | Promise<OtlpPath>;
  /** Whether an ingest thread serves a request by itself; absent: always. */
  readonly isServedHere?: Route["isServedHere"] & {};
}

/** What became of a request. */
export interface OtlpOutcome {
  readonly rowCount: number;
  readonly rejectedCount: number;
  readonly message: string;
}

/** Reads the request in protobuf. @throws DbError InvalidArguments when the body is no request */
export type ReadRequest = <T>(read: (protobuf: Uint8Array) => T) => T;

/** How a body is taken: decoded to a batch, or by a writer of its own that reads the request whenever it needs it. */
export type OtlpPath =
  | { readonly kind: "decoded"; readonly decode: (body: Uint8Array) => OtlpWrite }
  | { readonly kind: "whole"; readonly write: (read: ReadRequest) => Promise<OtlpOutcome> };
