/**
 * What headers and query say about the session: database, time zone (contract http.md 4, README 17).
 */
import type { IngestDb } from "../../db/db.ts";
import type { Session } from "../../db/session.ts";
import type { Exchange } from "./exchange.ts";
import { rawValueOf } from "./query-string.ts";
import { timeZoneOf } from "./time-zone.ts";

/** Database of requests that name none. */
const DEFAULT_DATABASE = "public";
const DEFAULT_CATALOG = "greptime";

/** Text that names the database: header, else `db`, else (InfluxDB v2 paths) `bucket`, else "public". Query values are taken raw. */
export function databaseTextOf(path: string, rawQuery: string, headers: Headers): string {
  const header = headers.get("x-greptime-db-name");
  if (header !== null && header !== "") return header;
  const db = rawValueOf(rawQuery, "db");
  if (db !== undefined) return db;
  if (path.includes("influxdb/api/v2")) {
    const bucket = rawValueOf(rawQuery, "bucket");
    if (bucket !== undefined) return bucket;
  }
  return DEFAULT_DATABASE;
}

/** Whether a database exists. */
export function databaseExists(name: string, db: IngestDb): boolean {
  return db.databases().some((info) => info.name === name);
}

/**
 * The database that a text names. One that exists verbatim wins; otherwise the text is `catalog-schema`, split at the first `-`. A text
 * with a foreign catalog is returned whole: no database has that name, and the error then shows what the client sent.
 */
export function databaseOf(text: string, db: IngestDb): string {
  const dash = text.indexOf("-");
  if (dash < 0 || databaseExists(text, db)) return text;
  return text.slice(0, dash) === DEFAULT_CATALOG ? text.slice(dash + 1) : text;
}

/** The session of a request. */
export function sessionOf(exchange: Exchange, database: string = exchange.database): Session {
  return {
    database,
    timeZone: timeZoneOf(exchange.request.headers.get("x-greptime-timezone")),
    user: exchange.user,
    signal: exchange.signal,
  };
}
