/**
 * Saved dashboards: the table `greptime_private.dashboard`, one row a dashboard by its name (contract http.md 8.2). A dashboard that is
 * saved again keeps the moment when it was first saved, so that its row is replaced. Two servers that save a new one at once make two rows:
 * the one with the later moment is the dashboard, and the other is seen by nobody.
 */
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidArguments } from "../../base/error.ts";
import { STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { printString } from "../../query/sql/print/print-name.ts";
import { RowCollector, tagKey } from "../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { DEFAULT_USER } from "../auth/user.ts";
import type { Db } from "../db.ts";
import type { Session } from "../session.ts";

const DATABASE = "greptime_private";
const TABLE = "dashboard";
const SHAPE: readonly ColumnDefinition[] = [
  { name: "name", type: STRING, semantic: "tag", nullable: true },
  { name: "definition", type: STRING, semantic: "field", nullable: true },
  { name: "created_at", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
];
const WRITE_OPTIONS = { autoCreate: true, tableOptions: { ttl: "forever" } };

/** Longest name, in characters. Reason: it stands in paths and menus. Error: InvalidArguments. */
const NAME_CHARACTERS_MAX = 255;
/** Largest definition, in bytes. Reason: those of large pages are some hundred kilobytes. Error: InvalidArguments. */
export const DEFINITION_BYTES_MAX: number = 4 * 1024 * 1024;
/** Most dashboards. Reason: all of them are listed at once. Error: InvalidArguments. */
const DASHBOARDS_MAX = 10_000;

/** A dashboard. */
export interface Dashboard {
  readonly name: string;
  /** What the page makes of it is of no account here. */
  readonly definition: string;
}

/** See the file header. Changes follow one another. */
export class DashboardTable {
  private readonly db: Db;
  private readonly clock: Clock;
  private last: Promise<unknown> = Promise.resolve();

  constructor(db: Db, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** All dashboards by name, one after the other. @throws DbError */
  async *list(signal: AbortSignal): AsyncGenerator<Dashboard> {
    const session = sessionUntil(signal);
    if (!(await this.isThere(session))) return;
    let last: (Dashboard & { readonly moment: bigint }) | undefined;
    for await (const [name, definition, moment] of this.rows(
      `SELECT name, definition, created_at FROM ${DATABASE}.${TABLE} ORDER BY name`,
      session,
    )) {
      if (typeof name !== "string" || typeof definition !== "string" || typeof moment !== "bigint") continue;
      if (last !== undefined && last.name !== name) yield { name: last.name, definition: last.definition };
      if (last?.name !== name || last.moment < moment) last = { name, definition, moment };
    }
    if (last !== undefined) yield { name: last.name, definition: last.definition };
  }

  /** Saves a dashboard, in the place of one of that name. @throws DbError InvalidArguments, and those of writes */
  save({ name, definition }: Dashboard, signal: AbortSignal): Promise<void> {
    checkName(name);
    return this.inOrder(async () => {
      const session = sessionUntil(signal);
      const createdAt = (await this.createdAt(name, session)) ?? (await this.newMoment(session));
      await this.db.admit(signal);
      const dictionary = new SeriesDictionary();
      const rows = new RowCollector(TABLE, "nanosecond");
      rows.begin(createdAt, tagKey(dictionary, TABLE, ["name"], [name]));
      rows.field("definition", STRING).set(definition);
      const batch = { dictionary, tables: rows.writes(SHAPE) };
      await decodedAndWritten(() => this.db.write(batch, session, WRITE_OPTIONS));
    });
  }

  /** Removes a dashboard; tells whether there was one. @throws DbError those of deletes */
  remove(name: string, signal: AbortSignal): Promise<boolean> {
    return this.inOrder(async () => {
      const session = sessionUntil(signal);
      if ((await this.createdAt(name, session)) === undefined) return false;
      const sql = `DELETE FROM ${DATABASE}.${TABLE} WHERE name = ${printString(name)}`;
      for await (const result of this.db.sql(sql, session)) if (result.kind === "affected") return result.rowCount > 0;
      return false;
    });
  }

  /** Whether there is such a table, also where another server has made it just now. */
  private async isThere({ signal }: Session): Promise<boolean> {
    const isKnown = (): boolean => this.db.schemas.columnOf(DATABASE, TABLE, "definition") !== undefined;
    if (!isKnown()) await this.db.refresh?.(signal);
    return isKnown();
  }

  private async createdAt(name: string, session: Session): Promise<bigint | undefined> {
    if (name.length > NAME_CHARACTERS_MAX || !(await this.isThere(session))) return undefined;
    const where = `name = ${printString(name)} AND definition IS NOT NULL`;
    const sql = `SELECT created_at FROM ${DATABASE}.${TABLE} WHERE ${where} ORDER BY created_at DESC LIMIT 1`;
    for await (const [moment] of this.rows(sql, session)) if (typeof moment === "bigint") return moment;
    return undefined;
  }

  /** @throws DbError InvalidArguments when there is no room for another dashboard */
  private async newMoment(session: Session): Promise<bigint> {
    let count = 0;
    if (await this.isThere(session)) {
      for await (const [counted] of this.rows(`SELECT count(*) FROM ${DATABASE}.${TABLE}`, session)) count = Number(counted);
    }
    if (count >= DASHBOARDS_MAX) throw invalidArguments(`cannot save the dashboard: there are ${DASHBOARDS_MAX} already; delete one`);
    return this.clock.nowNanos();
  }

  private async *rows(sql: string, session: Session): AsyncGenerator<readonly Scalar[]> {
    for await (const result of this.db.sql(sql, session)) {
      if (result.kind !== "rows") continue;
      const { headers, batches } = result;
      for await (const { rowCount, vectors } of batches) {
        for (let row = 0; row < rowCount; row++) {
          yield headers.map(({ type }, column) => {
            const vector = vectors[column];
            return vector === undefined ? undefined : scalarAt(vector, type, row);
          });
        }
      }
    }
  }

  /** Runs a change when those before it have ended, however they did. */
  private inOrder<T>(change: () => Promise<T>): Promise<T> {
    const made = this.last.then(change, change);
    this.last = made;
    return made;
  }
}

/** The server's own: whoever may see dashboards need not be allowed to read this table. */
function sessionUntil(signal: AbortSignal): Session {
  return { database: DATABASE, timeZone: "UTC", user: DEFAULT_USER, signal };
}

/** @throws DbError InvalidArguments */
function checkName(name: string): void {
  const rule =
    name.length === 0 || name.length > NAME_CHARACTERS_MAX
      ? `must have 1 to ${NAME_CHARACTERS_MAX} characters`
      : /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name)
        ? "cannot hold control characters"
        : undefined;
  if (rule !== undefined) throw invalidArguments(`Invalid request parameter: the name of a dashboard ${rule}`);
}
