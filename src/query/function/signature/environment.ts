import type { ConnectionClient } from "../../connection-client.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { NumberedKind } from "../../postgres-types.ts";
import type { Value } from "../value/value.ts";

/** What the placeholders of a prepared statement stand for. Indexes count from 0. */
export interface Placeholders {
  /** Type and value; "open" while the statement is only described; undefined where no value was given. */
  valueOf(index: number): { readonly type: DataType; readonly value: Value } | "open" | undefined;
  /** Notes, while the statement is described, which type its place asks for. */
  note(index: number, type: DataType): void;
}

/** Texts that `pg_catalog` has about what it numbers. */
export type CatalogText = "comment" | "view" | "index" | "constraint" | "function" | "function-arguments" | "function-result";

/** What `pg_catalog` knows by number. Reads what the catalogue holds now. */
export interface NumberedObjects {
  /** The number of what a name means; undefined: nothing. */
  numberOf(kind: NumberedKind, name: string): number | undefined;
  /** How the thing of a number is written; undefined: there is none. */
  nameOf(kind: NumberedKind, oid: number): string | undefined;
  /** @param part a column of it, counted from 1; 0: the whole */
  textOf(what: CatalogText, oid: number, part: number): string | undefined;
  /** Whether the name of a relation alone means it; undefined: there is none of that number. */
  isVisible(oid: number): boolean | undefined;
  /** Bytes of a relation, in memory and in files; undefined: there is none. */
  bytesOf(oid: number): number | undefined;
  /** Bytes of all relations. */
  allBytes(): number;
}

/** What functions may read besides their arguments. */
export interface Environment {
  /** Start of the statement, nanoseconds since the epoch: `now()` is one moment within a statement. */
  readonly now: bigint;
  /** Canonical zone of the session. */
  readonly timeZone: string;
  /** Current database of the session. */
  readonly database: string;
  /** Whether the session is a connection of PostgreSQL, whose statements see `pg_catalog`. */
  readonly isPostgres?: boolean;
  /** Of a connection of PostgreSQL, on the thread that has the catalogue: calls that read it run nowhere else. */
  readonly objects?: NumberedObjects | undefined;
  /** Whether it is one of MySQL. */
  readonly isMysql?: boolean;
  /** What the protocol tells of the connection's client. */
  readonly client?: ConnectionClient | undefined;
  /** What the client says about the statement, by name. */
  readonly attributes?: ReadonlyMap<string, string> | undefined;
  /** Of a prepared statement that has any. */
  readonly placeholders?: Placeholders | undefined;
  /** Counts what the plan of the statement grows to, while it is planned. */
  readonly planSize?: { add(parts: number): void } | undefined;
}
