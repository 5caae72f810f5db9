/**
 * What the OpenTSDB decoder takes and gives.
 */
import type { SchemaLookup, WriteBatch } from "../../table/write-batch.ts";

/** How to read one request. */
export interface PutOptions {
  readonly database: string;
  readonly schemas: SchemaLookup;
  /** Whether a metric may be a table. */
  acceptsTable(name: string): boolean;
}

/** A point that was refused. */
export interface PointError {
  /** Its place in the request; the first is 1. */
  readonly number: number;
  /** Where it stands in the body: bytes `[start, end)`. */
  readonly start: number;
  readonly end: number;
  /** What is wrong with it. */
  readonly reason: string;
}

/** Rows and refused points of one request. `rowCount + errorCount` is the number of points. */
export interface PutResult {
  /** Borrowed: valid until the decoder is used again. */
  readonly batch: WriteBatch;
  readonly rowCount: number;
  readonly errorCount: number;
  /** The first `ERROR_LINES_MAX` refused points. */
  readonly errors: readonly PointError[];
}

/** Why a body is no put at all: nothing of it is kept. */
export class PutBodyError extends Error {
  override readonly name = "PutBodyError";
}

/** Options of tables that puts make. */
export const OPENTSDB_SEMANTICS = { "greptime.semantic.signal_type": "metric", "greptime.semantic.source": "opentsdb" } as const;
