/**
 * What TQL asks of a PromQL engine. The query layer reads the statement and computes its moments; the engine knows the language.
 * `QueryContext.promql` holds it; without one TQL is refused where it is planned.
 */
import type { Batch, ColumnHeader } from "../column/batch.ts";
import type { Catalog } from "../table/catalog.ts";
import type { ScanMetrics } from "../table/scan.ts";
import type { Environment } from "./function/signature/environment.ts";
import type { Span } from "./sql/syntax/ast.ts";

/** A PromQL query at the moments `start`, `start + step`, … up to and with `end`. Times are milliseconds since the epoch. */
export interface PromqlRequest {
  /** As written, comments included. */
  readonly promql: string;
  /** Where it begins in the statement: what positions in errors count from. */
  readonly span: Span;
  readonly startMillis: number;
  readonly endMillis: number;
  /** At least 1. */
  readonly stepMillis: number;
  /** How far a selector looks back for a value; undefined: the engine's default. */
  readonly lookbackMillis: number | undefined;
  /** What the value column is called; undefined: as the engine calls it. */
  readonly alias: string | undefined;
}

/** What a planned query reads. */
export interface PromqlSources {
  readonly catalog: Catalog;
  /** Holds the current database. */
  readonly environment: Pick<Environment, "database">;
}

/** What a running query may take. */
export interface PromqlRun {
  /** To be looked at once a batch. */
  readonly signal: AbortSignal;
  /** Counts bytes that it holds. @throws DbError RuntimeResourcesExhausted */
  readonly reserve: (bytes: number) => void;
  readonly release: (bytes: number) => void;
  /** What scans of tables count into. */
  readonly scan?: ScanMetrics | undefined;
}

/** A query that was planned: its columns are known, nothing was read. */
export interface PromqlPlan {
  readonly columns: readonly ColumnHeader[];
  /** One line for EXPLAIN. */
  readonly summary: string;
  /** The rows, in the order in which clients see them. Batches are valid until the next one is asked for. */
  run(run: PromqlRun): AsyncIterable<Batch>;
}

/** See the file header. */
export interface PromqlEngine {
  /** @throws DbError InvalidSyntax, InvalidArguments, Unsupported */
  plan(request: PromqlRequest, sources: PromqlSources): PromqlPlan;
}
