/**
 * The table `greptime_private.pipelines`: one row a version (contract ingest.md 8.3). A deleted version is overwritten by a row without
 * text, since rows are not deleted.
 */
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { Clock } from "../../base/clock.ts";
import { Turns } from "../../base/scheduler/turns.ts";
import { STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { RowCollector, tagKey } from "../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { DEFAULT_USER } from "../auth/user.ts";
import type { Db } from "../db.ts";
import type { Session } from "../session.ts";
import { versionText } from "./version.ts";

const DATABASE = "greptime_private";
const TABLE = "pipelines";
const CONTENT_TYPE = "yaml";
const tag = (name: string): ColumnDefinition => ({ name, type: STRING, semantic: "tag", nullable: true });
const SHAPE: readonly ColumnDefinition[] = [
  tag("name"),
  tag("schema"),
  tag("content_type"),
  { name: "pipeline", type: STRING, semantic: "field", nullable: true },
  { name: "created_at", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];
const WRITE_OPTIONS = { autoCreate: true, tableOptions: { ttl: "forever" } };

/** One version of a pipeline. */
export interface PipelineRow {
  readonly createdAtNanos: bigint;
  readonly text: string;
}

/** See the file header. */
export class PipelineTable {
  private readonly db: Db;
  private readonly clock: Clock;
  private lastNanos = 0n;
  /** Of stores: each is behind those before it. */
  private readonly turns: Turns = new Turns();

  constructor(db: Db, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** The version stored at a moment, or the newest one; undefined when there is none. @throws DbError */
  async find(name: string, createdAtNanos: bigint | undefined): Promise<PipelineRow | undefined> {
    if (!(await this.isThere())) return undefined;
    const at = createdAtNanos === undefined ? "" : ` AND created_at = ${literalOf(createdAtNanos)}`;
    const where = `name = '${name.replaceAll("'", "''")}' AND pipeline IS NOT NULL${at}`;
    const sql = `SELECT created_at, pipeline FROM ${DATABASE}.${TABLE} WHERE ${where} ORDER BY created_at DESC LIMIT 1`;
    for await (const result of this.db.sql(sql, this.session())) {
      if (result.kind !== "rows") continue;
      let found: PipelineRow | undefined;
      for await (const { rowCount, vectors } of result.batches) {
        const [times, texts] = vectors;
        if (rowCount === 0 || times === undefined || texts === undefined) continue;
        const [time, text] = [scalarAt(times, TIMESTAMP_NANOSECOND, 0), scalarAt(texts, STRING, 0)];
        if (typeof time === "bigint" && typeof text === "string") found = { createdAtNanos: time, text };
      }
      return found;
    }
    return undefined;
  }

  /**
   * Stores a version and returns the moment that names it: behind those of the versions that are there, also where the clock of the server
   * that stored them was ahead.
   *
   * @throws DbError
   */
  add(name: string, text: string): Promise<bigint> {
    return this.turns.alone(async () => {
      const newest = (await this.find(name, undefined))?.createdAtNanos ?? 0n;
      const now = this.clock.nowNanos();
      this.lastNanos = now > this.lastNanos ? now : this.lastNanos + 1n; // Two versions never have one name.
      const createdAt = this.lastNanos > newest ? this.lastNanos : newest + 1n;
      await this.write(name, createdAt, text);
      return createdAt;
    });
  }

  /** Removes a version. @throws DbError */
  async remove(name: string, createdAtNanos: bigint): Promise<void> {
    await this.write(name, createdAtNanos, undefined);
  }

  /** Whether there is such a table, also where another server has made it just now. */
  private async isThere(): Promise<boolean> {
    const isKnown = (): boolean => this.db.schemas.columnOf(DATABASE, TABLE, "pipeline") !== undefined;
    if (!isKnown()) await this.db.refresh?.();
    return isKnown();
  }

  private async write(name: string, createdAtNanos: bigint, text: string | undefined): Promise<void> {
    const session = this.session();
    await this.db.admit(session.signal);
    const dictionary = new SeriesDictionary();
    const rows = new RowCollector(TABLE, "nanosecond");
    rows.begin(createdAtNanos, tagKey(dictionary, TABLE, ["name", "content_type"], [name, CONTENT_TYPE]));
    rows.field("pipeline", STRING).set(text);
    const batch = { dictionary, tables: rows.writes(SHAPE) };
    await decodedAndWritten(() => this.db.write(batch, session, WRITE_OPTIONS));
  }

  /** The server's own: whoever may use a pipeline need not be allowed to read this table. */
  private session(): Session {
    return { database: DATABASE, timeZone: "UTC", user: DEFAULT_USER, signal: NEVER };
  }
}

const NEVER: AbortSignal = new AbortController().signal;

/** A moment as SQL reads it without loss. */
function literalOf(nanos: bigint): string {
  return `'${versionText(nanos)}'`;
}
