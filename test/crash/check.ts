/**
 * Compares the database with the model after a restart.
 *
 * Rows that were touched since the last check are compared one by one. All others are compared by sums: for every writer, origin and
 * table the number of rows and the sums of `seat`, `version` and `amount` (exact by construction). A full check compares every row.
 */
import { type ResultTable, SqlError, sqlTable, TABLE_NOT_FOUND } from "../../bench/macro/sql-client.ts";
import { amountOf, labelOf, shardTag, TABLE_COUNT, tableName, tableOf, timeOf, writerTag } from "./batch.ts";
import type { Origin, WriterModel } from "./model.ts";

/** What a check found. */
export interface CheckResult {
  /** One sentence a broken promise; empty is good. */
  readonly violations: readonly string[];
  readonly rowsCompared: number;
  /** Unanswered batches that were found whole, and that were absent. */
  readonly unansweredApplied: number;
  readonly unansweredAbsent: number;
}

/** A row as stored. */
interface StoredRow {
  readonly table: number;
  readonly shard: unknown;
  readonly version: unknown;
  readonly amount: unknown;
  readonly label: unknown;
  readonly time: unknown;
}

/** Stored rows of one writer by origin, then by seat. */
type Stored = ReadonlyMap<number, ReadonlyMap<number, StoredRow>>;

const ORIGINS_A_QUERY = 200;
const VIOLATIONS_MAX = 20;

/** Checks all writers and settles their unanswered batches. `isFull`: every row, not only the touched ones. */
export async function checkStore(baseUrl: string, writers: readonly WriterModel[], isFull: boolean): Promise<CheckResult> {
  const violations: string[] = [];
  let rowsCompared = 0;
  let unansweredApplied = 0;
  let unansweredAbsent = 0;
  for (const model of writers) {
    const origins = isFull ? [...new Set([...model.origins.keys(), ...model.touched])] : [...model.touched];
    const stored = await storedRows(baseUrl, model.writer, origins, violations);
    const unanswered = model.unanswered;
    const fate = settle(model, stored);
    if (unanswered !== undefined && fate === "applied") unansweredApplied++;
    if (unanswered !== undefined && fate === "absent") unansweredAbsent++;
    if (typeof fate === "object") violations.push(fate.violation);
    rowsCompared += compareRows(model, origins, stored, violations);
    model.touched.clear();
  }
  for (let table = 0; table < TABLE_COUNT; table++) await compareSums(baseUrl, table, writers, violations);
  return { violations: violations.slice(0, VIOLATIONS_MAX), rowsCompared, unansweredApplied, unansweredAbsent };
}

/** Decides what became of the batch that was on its way: all of it is there, or nothing of it. Updates the model. */
function settle(model: WriterModel, stored: Stored): "applied" | "absent" | { readonly violation: string } {
  const batch = model.unanswered;
  if (batch === undefined) return "absent";
  const rows = stored.get(batch.origin);
  let found = 0;
  for (let seat = 0; seat < batch.seats; seat++) if (rows?.get(seat)?.version === batch.number) found++;
  if (found === batch.seats) {
    model.apply();
    return "applied";
  }
  model.drop();
  if (found === 0) return "absent";
  const name = `${batch.kind} batch ${batch.number} of writer ${batch.writer}`;
  return { violation: `${name}: ${found} of ${batch.seats} rows survived; a request is applied whole or not at all` };
}

function compareRows(model: WriterModel, origins: readonly number[], stored: Stored, violations: string[]): number {
  let compared = 0;
  for (const number of origins) {
    const want = model.origins.get(number);
    const rows = stored.get(number) ?? new Map<number, StoredRow>();
    for (let seat = 0; seat < (want?.seats ?? 0); seat++) {
      const problem = rowProblem(model.writer, number, seat, want!, rows.get(seat));
      if (problem !== undefined) violations.push(`writer ${model.writer}, origin ${number}, seat ${seat}: ${problem}`);
      compared++;
    }
    const invented = [...rows.keys()].filter((seat) => seat < 0 || seat >= (want?.seats ?? 0));
    if (invented.length > 0)
      violations.push(`writer ${model.writer}, origin ${number}: seats ${invented.slice(0, 5).join(", ")} were never sent`);
  }
  return compared;
}

function rowProblem(writer: number, origin: number, seat: number, want: Origin, row: StoredRow | undefined): string | undefined {
  const version = want.versions[seat]!;
  if (row === undefined) return `acknowledged by batch ${version}, but gone`;
  if (row.version !== version) return `version ${String(row.version)}, want ${version}`;
  if (row.amount !== amountOf(writer, version, seat)) return `amount ${String(row.amount)} is not what batch ${version} sent`;
  const label = labelOf(writer, want.labels[seat]!, seat);
  if (row.label !== label) return `label ${String(row.label)}, want ${label}`;
  if (row.table !== tableOf(origin, seat)) return `in table ${row.table}, want ${tableOf(origin, seat)}`;
  if (row.shard !== shardTag(seat)) return `shard ${String(row.shard)}, want ${shardTag(seat)}`;
  if (row.time !== timeOf(origin, seat).toString()) return `time ${String(row.time)}, want ${timeOf(origin, seat)}`;
  return undefined;
}

async function storedRows(baseUrl: string, writer: number, origins: readonly number[], violations: string[]): Promise<Stored> {
  const stored = new Map<number, Map<number, StoredRow>>(origins.map((origin) => [origin, new Map()]));
  for (let table = 0; table < TABLE_COUNT; table++) {
    for (let from = 0; from < origins.length; from += ORIGINS_A_QUERY) {
      const list = origins.slice(from, from + ORIGINS_A_QUERY).join(", ");
      const { rows } = await tableOrNothing(
        baseUrl,
        `SELECT origin, seat, shard, version, amount, label, greptime_timestamp FROM ${tableName(table)} ` +
          `WHERE writer = '${writerTag(writer)}' AND origin IN (${list})`,
      );
      for (const [origin, seat, shard, version, amount, label, time] of rows) {
        const seats = stored.get(Number(origin));
        if (seats === undefined) throw new Error(`the query for origins ${list} answered origin ${String(origin)}`);
        if (seats.has(Number(seat))) violations.push(`writer ${writer}, origin ${Number(origin)}, seat ${Number(seat)} is there twice`);
        seats.set(Number(seat), { table, shard, version, amount, label, time });
      }
    }
  }
  return stored;
}

/** Compares the sums of one table, for all writers and origins. */
async function compareSums(baseUrl: string, table: number, writers: readonly WriterModel[], violations: string[]): Promise<void> {
  const want = new Map<string, string>();
  for (const model of writers) {
    for (const [origin, rows] of model.origins) {
      const sums = expectedSums(model.writer, origin, rows, table);
      if (sums !== undefined) want.set(`${writerTag(model.writer)} ${origin}`, sums);
    }
  }
  const { rows } = await tableOrNothing(
    baseUrl,
    `SELECT writer, origin, count(*), sum(seat), sum(version), sum(amount) FROM ${tableName(table)} GROUP BY writer, origin`,
  );
  for (const [writer, origin, ...sums] of rows) {
    const key = `${String(writer)} ${String(origin)}`;
    const expected = want.get(key);
    want.delete(key);
    const got = sums.map(Number).join(" ");
    if (expected === undefined) violations.push(`${tableName(table)} holds rows of ${key} (${got}), which nobody sent`);
    else if (got !== expected)
      violations.push(`${tableName(table)}, ${key}: count and sums of seat, version, amount are ${got}, want ${expected}`);
  }
  for (const key of want.keys()) violations.push(`${tableName(table)} has lost all rows of ${key}`);
}

function expectedSums(writer: number, origin: number, rows: Origin, table: number): string | undefined {
  let count = 0;
  let seatSum = 0;
  let versionSum = 0;
  let amountSum = 0;
  for (let seat = 0; seat < rows.seats; seat++) {
    if (tableOf(origin, seat) !== table) continue;
    count++;
    seatSum += seat;
    versionSum += rows.versions[seat]!;
    amountSum += amountOf(writer, rows.versions[seat]!, seat);
  }
  return count === 0 ? undefined : `${count} ${seatSum} ${versionSum} ${amountSum}`;
}

/** A table that no acknowledged write has made may be absent: it then has no rows, which the comparison judges. */
async function tableOrNothing(baseUrl: string, sql: string): Promise<ResultTable> {
  return await sqlTable(baseUrl, sql).catch((error: unknown) => {
    if (error instanceof SqlError && error.message.includes(TABLE_NOT_FOUND)) return { columns: [], rows: [] };
    throw error;
  });
}
