/**
 * A door of the server as the writers of a crash campaign use it: how a batch is written, and how its rows are read again. Each door has
 * tables of its own. What every door must do is the same, so that one checker asks for all of them.
 */
import type { Cell } from "../../../bench/macro/sql-client.ts";
import type { Batch, BatchKind } from "../batch.ts";

/** A request to the server. */
export interface DoorRequest {
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | URLSearchParams;
  /** The status of an answer that acknowledges. */
  readonly goodStatus: number;
}

/** What a request came to: nothing was heard of it, it was acknowledged, or the answer says why not. */
export type Answer = undefined | "good" | { readonly refusal: string };

/** A request to the gRPC port. */
export interface GrpcRequest {
  /** Sends it. Never rejects. */
  call(grpcUrl: string): Promise<Answer>;
}

/** A row of a writer as the database holds it. */
export interface StoredRow {
  readonly origin: number;
  readonly seat: number;
  readonly version: number;
  /** The rest of it, in the words of `Door.textOf`. */
  readonly text: string;
}

/** Who and where a row is, and what it was written by. */
export interface RowPlace {
  readonly writer: number;
  readonly origin: number;
  readonly seat: number;
  /** Number of the batch that wrote it last. */
  readonly version: number;
  /** Number of the batch that wrote its label. */
  readonly labelVersion: number;
}

/** See the file header. */
export interface Door {
  readonly name: string;
  readonly tables: readonly string[];
  /** Kinds of batches besides fresh ones; none where rows can only be added. */
  readonly changes: readonly BatchKind[];
  /** Whether a batch that is sent twice is there once. */
  readonly isIdempotent: boolean;
  /** Is sent once before the first batch; what it makes must last. */
  readonly setUp?: DoorRequest;
  request(batch: Batch): DoorRequest | GrpcRequest;
  /** A query for the rows of some origins of a writer in one of the tables. */
  rowsSql(table: string, writer: number, origins: readonly number[]): string;
  /** One row of its answer. */
  storedRow(cells: readonly Cell[]): StoredRow;
  /** What `StoredRow.text` should be. */
  textOf(place: RowPlace): string;
  /** A query for `writer, origin, count(*), figures…` of one of the tables, for all writers and origins. */
  sumsSql(table: string): string;
  /** What one row adds to the figures; sums of them are exact. */
  figuresOf(place: RowPlace): readonly number[];
}

/** `DELETE` of an origin's rows from the table that the batch's number chooses. */
export function deleteRequest(tables: readonly string[], { number }: Batch, where: string): DoorRequest {
  const sql = `DELETE FROM ${tables[number % tables.length]!} WHERE ${where}`;
  return { path: "/v1/sql?db=public", body: new URLSearchParams({ sql }), goodStatus: 200 };
}

/** Texts as a list of SQL literals. They hold no quote. */
export function literals(values: readonly (string | number)[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}
