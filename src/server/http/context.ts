/**
 * What headers and query say about the session: database, time zone (contract http.md 4, README 17).
 */
import { timeZoneNamed } from "../../base/text/time-zone.ts";
import type { Session } from "../../db/session.ts";
import type { Exchange } from "./exchange.ts";
import { headerTextOf } from "../common/header-text.ts";
import { firstValueOf } from "./query-string.ts";

/** Database of requests that name none. */
const DEFAULT_DATABASE = "public";

/** Text that names the database: header, else `db`, else (InfluxDB v2 paths) `bucket`, else "public". */
export function databaseTextOf(path: string, rawQuery: string, headers: Headers): string {
  const header = headerTextOf(headers, "x-greptime-db-name");
  if (header !== null && header !== "") return header;
  const db = firstValueOf(rawQuery, "db");
  if (db !== undefined) return db;
  if (path.includes("influxdb/api/v2")) {
    const bucket = firstValueOf(rawQuery, "bucket");
    if (bucket !== undefined) return bucket;
  }
  return DEFAULT_DATABASE;
}

/** The session's zone: UTC where a request names none (README row 22). @throws DbError InvalidArguments for what is no zone */
function timeZoneOf(header: string | null): string {
  return header === null || header.trim() === "" ? "UTC" : timeZoneNamed(header);
}

/** The session of a request. @throws DbError InvalidArguments for an unknown time zone */
export function sessionOf(exchange: Exchange, database: string = exchange.database): Session {
  return {
    database,
    timeZone: timeZoneOf(exchange.request.headers.get("x-greptime-timezone")),
    user: exchange.user,
    signal: exchange.signal,
    ...(exchange.ingest === undefined ? {} : { ingest: exchange.ingest }),
    ...(exchange.trace === undefined ? {} : { trace: exchange.trace }),
  };
}
