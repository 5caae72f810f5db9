/**
 * Compares the database with the model after a restart, whatever door the rows came through.
 *
 * Rows that were touched since the last check are compared one by one. All others are compared by sums: for every writer, origin and
 * table the number of rows and the door's figures (exact by construction). A full check compares every row.
 */
import { type ResultTable, SqlError, sqlTable, TABLE_NOT_FOUND } from "../../bench/macro/sql-client.ts";
import { isOf, tableOf, writerTag } from "./batch.ts";
import type { Door, StoredRow } from "./doors/door.ts";
import type { Origin, WriterModel } from "./model.ts";

/** What a check found. */
export interface CheckResult {
  /** One sentence a broken promise; empty is good. */
  readonly violations: readonly string[];
  readonly rowsCompared: number;
  /** What became of each writer's unanswered batch, in their order. */
  readonly fates: readonly (Fate | undefined)[];
}

/** An unanswered batch was found whole, or not at all. */
export type Fate = "applied" | "absent";

/** A row, and the table that it was found in. */
interface FoundRow extends StoredRow {
  readonly table: string;
}

/** Stored rows of one writer by origin, then by seat. */
type Stored = ReadonlyMap<number, ReadonlyMap<number, FoundRow>>;

const ORIGINS_A_QUERY = 200;
const VIOLATIONS_MAX = 20;

/**
 * Checks all writers and settles their unanswered batches. `isFull`: every row, not only the touched ones. `summed`: the doors whose sums
 * are compared; default all.
 */
export async function checkStore(
  baseUrl: string,
  writers: readonly WriterModel[],
  isFull: boolean,
  summed: readonly Door[] = writers.map(({ door }) => door),
): Promise<CheckResult> {
  const violations: string[] = [];
  const fates: (Fate | undefined)[] = [];
  let rowsCompared = 0;
  for (const model of writers) {
    const origins = isFull ? [...new Set([...model.origins.keys(), ...model.touched])] : [...model.touched];
    const stored = await storedRows(baseUrl, model, origins, violations);
    const fate = settle(model, stored);
    if (typeof fate === "object") violations.push(fate.violation);
    fates.push(typeof fate === "object" ? undefined : fate);
    rowsCompared += compareRows(model, origins, stored, violations);
    for (const origin of model.touched) model.sums.delete(origin);
    model.touched.clear();
  }
  for (const door of new Set(summed)) {
    const own = writers.filter((model) => model.door === door);
    for (const table of door.tables.keys()) await compareSums(baseUrl, door, table, own, violations);
  }
  return { violations: violations.slice(0, VIOLATIONS_MAX), rowsCompared, fates };
}

/** Decides what became of the batch that was on its way: all of it is there, or nothing of it. Updates the model. */
function settle(model: WriterModel, stored: Stored): Fate | undefined | { readonly violation: string } {
  const batch = model.unanswered;
  if (batch === undefined) return undefined;
  const rows = stored.get(batch.origin);
  const before = model.origins.get(batch.origin);
  const isDelete = batch.kind === "delete";
  let wanted = 0;
  let found = 0;
  for (let seat = 0; seat < batch.seats; seat++) {
    if (!isOf(batch, seat, model.door.tables.length) || (isDelete && before?.versions[seat] === 0)) continue;
    wanted++;
    const row = rows?.get(seat);
    if (isDelete ? row === undefined : row?.version === batch.number) found++;
  }
  if (found === wanted) {
    model.apply();
    return "applied";
  }
  model.drop();
  if (found === 0) return "absent";
  const name = `${batch.kind} batch ${batch.number} of writer ${batch.writer}`;
  const what = isDelete ? "are gone" : "survived";
  return { violation: `${name}: ${found} of ${wanted} rows ${what}; a request is applied whole or not at all` };
}

function compareRows(model: WriterModel, origins: readonly number[], stored: Stored, violations: string[]): number {
  let compared = 0;
  for (const number of origins) {
    const want = model.origins.get(number);
    const rows = stored.get(number) ?? new Map<number, FoundRow>();
    for (let seat = 0; seat < (want?.seats ?? 0); seat++) {
      const problem = rowProblem(model, number, seat, want!, rows.get(seat));
      if (problem !== undefined) violations.push(`${model.door.name}: writer ${model.writer}, origin ${number}, seat ${seat}: ${problem}`);
      compared++;
    }
    const invented = [...rows.keys()].filter((seat) => !(seat >= 0 && seat < (want?.seats ?? 0)));
    if (invented.length > 0)
      violations.push(
        `${model.door.name}: writer ${model.writer}, origin ${number}: seats ${invented.slice(0, 5).join(", ")} were never sent`,
      );
  }
  return compared;
}

function rowProblem(
  { writer, door }: WriterModel,
  origin: number,
  seat: number,
  want: Origin,
  row: FoundRow | undefined,
): string | undefined {
  const version = want.versions[seat]!;
  if (version === 0) return row === undefined ? undefined : `deleted, but there with version ${row.version}`;
  if (row === undefined) return `acknowledged by batch ${version}, but gone`;
  if (row.version !== version) return `version ${row.version}, want ${version}`;
  const text = door.textOf({ writer, origin, seat, version, labelVersion: want.labels[seat]! });
  if (row.text !== text) return `${row.text}, want ${text}`;
  const table = door.tables[tableOf(origin, seat, door.tables.length)];
  return row.table === table ? undefined : `in table ${row.table}, want ${table}`;
}

async function storedRows(
  baseUrl: string,
  { writer, door }: WriterModel,
  origins: readonly number[],
  violations: string[],
): Promise<Stored> {
  const stored = new Map<number, Map<number, FoundRow>>(origins.map((origin) => [origin, new Map()]));
  for (const table of door.tables) {
    for (let from = 0; from < origins.length; from += ORIGINS_A_QUERY) {
      const { rows } = await tableOrNothing(baseUrl, door.rowsSql(table, writer, origins.slice(from, from + ORIGINS_A_QUERY)));
      for (const cells of rows) {
        const row = door.storedRow(cells);
        const seats = stored.get(row.origin);
        if (seats === undefined) throw new Error(`a query for some origins of ${table} answered origin ${row.origin}`);
        if (seats.has(row.seat)) violations.push(`${door.name}: writer ${writer}, origin ${row.origin}, seat ${row.seat} is there twice`);
        seats.set(row.seat, { ...row, table });
      }
    }
  }
  return stored;
}

/** Compares the sums of one table of a door, for all its writers and their origins. */
async function compareSums(
  baseUrl: string,
  door: Door,
  table: number,
  writers: readonly WriterModel[],
  violations: string[],
): Promise<void> {
  const name = door.tables[table]!;
  const want = new Map<string, string>();
  for (const model of writers) {
    for (const [origin, rows] of model.origins) {
      const known = model.sums.get(origin) ?? expectedSums(model, origin, rows);
      model.sums.set(origin, known);
      const sums = known[table];
      if (sums !== undefined) want.set(`${writerTag(model.writer)} ${origin}`, sums);
    }
  }
  const { rows } = await tableOrNothing(baseUrl, door.sumsSql(name));
  for (const [writer, origin, ...sums] of rows) {
    const key = `${String(writer)} ${String(origin)}`;
    const expected = want.get(key);
    want.delete(key);
    const got = sums.map(Number).join(" ");
    if (expected === undefined) violations.push(`${name} holds rows of ${key} (${got}), which nobody sent`);
    else if (got !== expected) violations.push(`${name}, ${key}: count and sums are ${got}, want ${expected}`);
  }
  for (const key of want.keys()) violations.push(`${name} has lost all rows of ${key}`);
}

/** Count and figures of an origin, by table; undefined where it has no rows. */
function expectedSums({ writer, door }: WriterModel, origin: number, rows: Origin): readonly (string | undefined)[] {
  const sums: (number[] | undefined)[] = door.tables.map(() => undefined);
  for (let seat = 0; seat < rows.seats; seat++) {
    const version = rows.versions[seat]!;
    if (version === 0) continue;
    const table = tableOf(origin, seat, door.tables.length);
    const row = [1, ...door.figuresOf({ writer, origin, seat, version, labelVersion: rows.labels[seat]! })];
    sums[table] = sums[table]?.map((sum, i) => sum + row[i]!) ?? row;
  }
  return sums.map((each) => each?.join(" "));
}

/** A table that no acknowledged write has made may be absent: it then has no rows, which the comparison judges. */
async function tableOrNothing(baseUrl: string, sql: string): Promise<ResultTable> {
  return await sqlTable(baseUrl, sql).catch((error: unknown) => {
    if (error instanceof SqlError && error.message.includes(TABLE_NOT_FOUND)) return { columns: [], rows: [] };
    throw error;
  });
}
