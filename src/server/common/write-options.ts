/** How writes of every protocol make tables (contract ingest.md 0.6, 0.7), and what they refuse before a row is read. */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { IngestDb } from "../../db/db.ts";
import type { WriteOptions } from "../../table/write-batch.ts";
import { databaseExists } from "./database-name.ts";
import { autoCreateOf, hintedTableOptions, type Hints } from "./hints.ts";

/** What settings say of tables that writes make. */
export interface WriteSettings {
  readonly autoCreateTable: boolean;
  /** The mode of tables that line protocol and its like make, unless hints say otherwise. */
  readonly influx: { readonly defaultMergeMode: string };
}

/** How tables are made (contract ingest.md 0.7). "log" and "trace" tables keep every row, "logical" ones the newest. */
export type Creation = "physical" | "logical" | "last_non_null" | "log" | "trace";

/** Refuses a database that is not there. @throws DbError DatabaseNotFound */
export function checkDatabase(database: string, db: IngestDb): void {
  // In lower case, since Telegraf looks for these words before it makes the database and tries again.
  if (!databaseExists(database, db)) throw new DbError(StatusCode.DatabaseNotFound, `database not found: ${database}`);
}

/**
 * How the write makes tables.
 *
 * @param semantics `greptime.semantic.*` options, in front of which hints go
 * @throws DbError InvalidArguments for a hint whose value cannot be used
 */
export function writeOptionsOf(
  hints: Hints,
  settings: WriteSettings,
  creation: Creation,
  semantics: Readonly<Record<string, string>>,
): WriteOptions {
  const tableOptions: Record<string, string> = { comment: "Created on insertion", ...semantics, ...hintedTableOptions(hints) };
  if (creation === "log" || creation === "trace") tableOptions["append_mode"] = "true";
  else if (creation !== "logical")
    Object.assign(tableOptions, mergingOf(hints, creation === "physical" ? undefined : settings.influx.defaultMergeMode));
  return { autoCreate: autoCreateOf(hints, settings.autoCreateTable), tableOptions };
}

function mergingOf(hints: Hints, fallback: string | undefined): Record<string, string> {
  const append = hints.get("append_mode");
  if (append !== undefined && append !== "true" && append !== "false") {
    throw invalidArguments(`cannot use the hint append_mode=${append}: it must be true or false`);
  }
  if (append === "true") return { append_mode: "true" }; // rows are never merged, so a merge mode would say nothing
  const merge = hints.get("merge_mode") ?? fallback;
  if (merge === undefined) return {};
  if (merge !== "last_row" && merge !== "last_non_null") {
    throw invalidArguments(`cannot use the hint merge_mode=${merge}: it must be last_row or last_non_null`);
  }
  return { merge_mode: merge };
}
