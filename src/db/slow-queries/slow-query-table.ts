/**
 * The table `greptime_private.slow_queries`: a row a statement that was slow (contract http.md 1.5, `slow_query.record_type`). Rows wait a
 * second for others and are written together; a statement never waits for its row. What cannot be written is told of and lost: its line is
 * in the log.
 */
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { BOOLEAN, type DataType, STRING, TIMESTAMP_MILLISECOND, TIMESTAMP_NANOSECOND, UINT64 } from "../../column/data-type.ts";
import { RowCollector, tagKey } from "../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { DEFAULT_USER } from "../auth/user.ts";
import type { IngestDb } from "../db.ts";
import type { EndedStatement } from "../statement-watch.ts";

const DATABASE = "greptime_private";
const TABLE = "slow_queries";
/** Longest wait of a row, in milliseconds. */
const DELAY_MS = 1000;
/** Most rows that wait. Reason: each holds the beginning of a text. The rest is lost, and counted in the warning. */
const WAITING_MAX = 1000;

function field(name: string, type: DataType): ColumnDefinition {
  return { name, type, semantic: "field", nullable: true };
}

const SHAPE: readonly ColumnDefinition[] = [
  field("cost", UINT64),
  field("threshold", UINT64),
  field("query", STRING),
  field("is_promql", BOOLEAN),
  field("promql_range", UINT64),
  field("promql_step", UINT64),
  field("promql_start", TIMESTAMP_MILLISECOND),
  field("promql_end", TIMESTAMP_MILLISECOND),
  field("schema_name", STRING),
  { name: "timestamp", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];

/** What a row is made of. */
export type SlowStatement = Pick<EndedStatement, "query" | "database" | "workedMillis" | "times">;

/** What the table is kept with. */
export interface SlowQueryParts {
  readonly db: IngestDb;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds from which on a statement is slow. */
  readonly thresholdMillis: number;
  /** How long rows are kept, as an option of tables: `90days`. */
  readonly ttl: string;
}

/** See the file header. */
export class SlowQueryTable {
  private readonly parts: SlowQueryParts;
  private waiting: (SlowStatement & { readonly nanos: bigint })[] = [];
  private lost = 0;
  private lastNanos = 0n;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(parts: SlowQueryParts) {
    this.parts = parts;
  }

  /** Adds a row for a statement that has ended now. */
  add({ query, database, workedMillis, times }: SlowStatement): void {
    if (this.waiting.length === WAITING_MAX) {
      this.lost++;
      return;
    }
    const now = this.parts.clock.nowNanos();
    this.lastNanos = now > this.lastNanos ? now : this.lastNanos + 1n; // Two rows never have one time.
    this.waiting.push({ query, database, workedMillis, ...(times === undefined ? {} : { times }), nanos: this.lastNanos });
    this.timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref(); // never rejects
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
    await this.writing;
  }

  private async write(): Promise<void> {
    const { db, logger, ttl } = this.parts;
    const [rows, lost] = [this.waiting, this.lost];
    if (rows.length === 0) return;
    this.waiting = [];
    this.lost = 0;
    if (lost > 0) logger.warn({ rows: lost }, "too many slow statements at once: not all of them are in the table");
    try {
      const session = { database: DATABASE, timeZone: "UTC", user: DEFAULT_USER, signal: NEVER };
      await db.admit();
      const options = { autoCreate: true, tableOptions: { append_mode: "true", ttl } };
      const batch = this.batchOf(rows);
      await decodedAndWritten(() => db.write(batch, session, options));
    } catch (error) {
      logger.warn({ rows: rows.length, error: errorText(error) }, "cannot keep slow statements in their table");
    }
  }

  private batchOf(statements: readonly (SlowStatement & { readonly nanos: bigint })[]): Parameters<IngestDb["write"]>[0] {
    const dictionary = new SeriesDictionary();
    const rows = new RowCollector(TABLE, "nanosecond");
    const key = tagKey(dictionary, TABLE, [], []);
    for (const { query, database, workedMillis, times, nanos } of statements) {
      rows.begin(nanos, key);
      rows.field("cost", UINT64).set(Math.round(workedMillis));
      rows.field("threshold", UINT64).set(Math.round(this.parts.thresholdMillis));
      rows.field("query", STRING).set(query);
      rows.field("is_promql", BOOLEAN).set(times !== undefined);
      rows.field("schema_name", STRING).set(database);
      if (times === undefined) continue;
      const { startMillis, endMillis, stepMillis } = times;
      rows.field("promql_range", UINT64).set(Math.max(0, Math.round(endMillis - startMillis)));
      rows.field("promql_step", UINT64).set(Math.max(0, Math.round(stepMillis)));
      rows.field("promql_start", TIMESTAMP_MILLISECOND).set(BigInt(Math.round(startMillis)));
      rows.field("promql_end", TIMESTAMP_MILLISECOND).set(BigInt(Math.round(endMillis)));
    }
    return { dictionary, tables: rows.writes(SHAPE) };
  }
}

const NEVER: AbortSignal = new AbortController().signal;
