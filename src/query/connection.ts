/**
 * What a connection keeps between its statements: prepared statements, cursors, warnings. A request over HTTP has no connection, so that
 * statements about them are refused there. Whoever opens one (a wire server) ends it with `endConnection`.
 */
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import type { Batch, ColumnHeader } from "../column/batch.ts";
import type { ConnectionClient } from "./connection-client.ts";
import { type KeptMemory, KeptStatements, UNCOUNTED } from "./kept-statements.ts";
import type { PreparedQuery } from "./prepared-query.ts";

/** Most cursors of a connection. Reason: each holds a snapshot of its tables and what its query holds. Error: InvalidArguments. */
export const CURSORS_MAX = 64;

/** Most warnings of a statement that are kept. */
const WARNINGS_MAX = 64;

/** A cursor (`statement/cursor.ts`). */
interface OpenCursor {
  readonly headers: readonly ColumnHeader[];
  fetch(count: number, signal: AbortSignal): AsyncIterable<Batch>;
  close(): Promise<void>;
}

/** See the file header. */
export interface Connection {
  readonly protocol: "mysql" | "postgres";
  readonly client: ConnectionClient;
  /** Fires when the connection ends. */
  readonly signal: AbortSignal;
  /** By name, as PREPARE gave it. */
  readonly prepared: KeptStatements<string, PreparedQuery>;
  readonly cursors: Map<string, OpenCursor>;
  /** Of the last statement; the next one clears it. */
  readonly warnings: string[];
  /** Of the statement that runs: what its client says about it, by name. */
  attributes: ReadonlyMap<string, string>;
}

/** A connection that begins now. @param memory of what it keeps */
export function newConnection(
  protocol: Connection["protocol"],
  signal: AbortSignal,
  memory: KeptMemory = UNCOUNTED,
  client: ConnectionClient = {},
): Connection {
  return { protocol, client, signal, prepared: new KeptStatements(memory), cursors: new Map(), warnings: [], attributes: NO_ATTRIBUTES };
}

/** Of a statement whose client says nothing about it. */
export const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/** Gives back what a connection holds. */
export async function endConnection(connection: Connection): Promise<void> {
  connection.prepared.clear();
  await closeCursors(connection);
}

/** Closes all cursors. */
export async function closeCursors({ cursors }: Connection): Promise<void> {
  const open = [...cursors.values()];
  cursors.clear();
  for (const cursor of open) await cursor.close();
}

/** Tells the client something about its statement that is no error. */
export function warn(connection: Connection, text: string): void {
  if (connection.warnings.length < WARNINGS_MAX) connection.warnings.push(text);
}

/** The connection that a statement needs. @throws DbError Unsupported without one */
export function connectionFor(keyword: string, connection: Connection | undefined): Connection {
  if (connection !== undefined) return connection;
  const why = "it needs a connection, which the MySQL and PostgreSQL protocols have";
  throw new DbError(StatusCode.Unsupported, `SQL statement is not supported, keyword: ${keyword}; ${why}`);
}
