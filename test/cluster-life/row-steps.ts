/** Steps that write and delete rows. The model learns of them when they are acknowledged. */
import type { Scalar } from "../../src/column/vector.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import { decodedAndWritten } from "../../src/table/decoded-and-written.ts";
import type { Table } from "../../src/table/catalog.ts";
import { ALL_TIME, type TagPredicate } from "../../src/table/scan.ts";
import { refused } from "../engine/life-words.ts";
import { linesOf, sayable } from "../engine/line-text.ts";
import { keyBatch, type LiveTable, rowBatch, rowsFor, type RowsToWrite } from "../engine/live-table.ts";
import { type ModelRow, type TableModel, textOf } from "../engine/model.ts";
import { pick, randomRows, randomScan } from "../engine/random-table.ts";
import { keysOf } from "../engine/row-keys.ts";
import { sqlRows } from "../engine/sql-session.ts";
import type { MachineFrontend } from "../support/cluster/cluster-machine.ts";
import { DATABASE, type LifeState, TIME } from "./life-state.ts";

/** Enough for several messages of a log, and batches of an answer. */
const ROWS_LARGE = 1000;

/** Writes some rows, in one request or some at once. */
export async function write(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `write ${table.name}`;
  const { random } = life;
  const batches = Array.from({ length: 1 + random.below(3) }, () => rowsFor(random, table, ROWS_LARGE));
  await put(life, table, batches);
}

/** Writes rows through two frontends at once, no series and time through both: nobody knows whose row is newer. */
export async function writeTwice(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `write ${table.name} through two frontends`;
  const { random } = life;
  const one = rowsFor(random, table, ROWS_LARGE);
  const other = rowsFor(random, table, ROWS_LARGE);
  const isTaken = table.model.keySet(one.rows);
  const batches = [one, { ...other, rows: other.rows.filter((row) => !isTaken(row)) }].map((batch) => said(table, batch));
  const writers = [await life.insist(() => life.writer()), await life.insist(() => life.writer())];
  await putTogether(life, table, batches, writers);
}

/** Reads all rows while others are written: each is there as it was before or as it is after, and once. */
export async function readBesideWrite(life: LifeState, table: LiveTable): Promise<void> {
  const { model } = table;
  life.doing = `write ${table.name} beside a scan`;
  const texts = (): string[] => model.scan({ timeRange: ALL_TIME, tagPredicates: [] }).map((row) => rowText(model, row));
  const before = texts();
  const read = life.insist(async () => allRows(life.tableOf(await life.frontend(), table), model));
  await put(life, table, [rowsFor(life.random, table, ROWS_LARGE)]);
  const after = texts();
  const got = await read;
  const surplus = without(got, [...before, ...without(after, before)]);
  if (surplus.length > 0) throw new Error(`${got.length} rows were read beside a write, and never were so: ${surplus[0]}`);
  const lost = without(without(before, without(before, after)), got);
  if (lost.length > 0) throw new Error(`${got.length} rows were read beside a write, without ${lost[0]}`);
  const most = Math.max(before.length, after.length);
  if (got.length > most) throw new Error(`${got.length} rows were read beside a write; there are ${most}`);
}

/** Texts that the others do not have, or not as often. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.filter((text) => {
    const left = counts.get(text) ?? 0;
    counts.set(text, left - 1);
    return left <= 0;
  });
}

/** Writes rows, each batch newer than the one before, or those of them that the table's way in can say. */
export async function put(life: LifeState, table: LiveTable, batches: readonly RowsToWrite[]): Promise<void> {
  const all = batches.map((batch) => said(table, batch));
  // Those that bring columns are not in the order in which they were begun.
  const together = table.isLines ? all.map((batch) => [batch]) : [all];
  for (const part of together) await putTogether(life, table, part, [await life.insist(() => life.writer())]);
}

function said({ isLines, model }: LiveTable, { given, rows }: RowsToWrite): RowsToWrite {
  return { given, rows: isLines ? sayable(model, rows) : rows };
}

/** @param writers by batch; the first has those that are left */
async function putTogether(
  life: LifeState,
  table: LiveTable,
  batches: readonly RowsToWrite[],
  writers: readonly MachineFrontend[],
): Promise<void> {
  const wasTroubled = life.isTroubled;
  const writerOf = (batch: number): MachineFrontend => writers[batch] ?? (writers[0] as MachineFrontend);
  const outcomes = await Promise.allSettled(batches.map((batch, i) => send(life, writerOf(i), table, batch)));
  const failed: RowsToWrite[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    const batch = batches[i] as RowsToWrite;
    if (outcome.status === "fulfilled") table.model.write(batch.given, batch.rows);
    else {
      life.checkPassing(outcome.reason, 0, wasTroubled);
      failed.push(batch);
    }
  }
  for (const batch of failed) await putAgain(life, table, batch);
}

/** Writes rows of which nobody knows whether they are there, or come. */
async function putAgain(life: LifeState, table: LiveTable, batch: RowsToWrite): Promise<void> {
  let left = batch;
  for (let tries = 1; ; tries++) {
    // A copy that came late would be the newest, by right.
    if (life.isTroubled) await life.quiet();
    if (table.model.mode === "append") left = await missing(life, table, left);
    if (left.rows.length === 0) return;
    const wasTroubled = life.isTroubled;
    const frontend = await life.insist(() => life.frontend());
    try {
      await send(life, frontend, table, left);
      table.model.write(left.given, left.rows);
      return;
    } catch (error) {
      life.checkPassing(error, tries, wasTroubled);
    }
  }
}

/** The rows that are not there; the model learns of the others. */
async function missing(life: LifeState, table: LiveTable, { given, rows }: RowsToWrite): Promise<RowsToWrite> {
  const { model } = table;
  const found = await life.insist(async () => allRows(life.tableOf(await life.frontend(), table), model));
  const count = new Map<string, number>();
  for (const text of found) count.set(text, (count.get(text) ?? 0) + 1);
  const isThere = (row: ModelRow): boolean => {
    const text = rowText(model, row);
    const left = count.get(text) ?? 0;
    count.set(text, left - 1);
    return left > 0;
  };
  for (const row of model.scan({ timeRange: ALL_TIME, tagPredicates: [] })) isThere(row);
  const living = rows.filter((row) => model.asWritten(given, [row]).length > 0);
  const known = living.map((row) => model.asWritten(given, [row]).every(isThere));
  model.write(
    given,
    living.filter((_, i) => known[i] === true),
  );
  return { given, rows: living.filter((_, i) => known[i] === false) };
}

async function allRows(table: Table, model: TableModel): Promise<string[]> {
  const { columns } = model;
  const projection = columns.map(({ name }) => name);
  const texts: string[] = [];
  for await (const { rowCount, vectors } of table.scan({
    projection,
    timeRange: ALL_TIME,
    tagPredicates: [],
    fieldBounds: [],
    order: "none",
  })) {
    for (let row = 0; row < rowCount; row++) {
      texts.push(vectors.map((vector, c) => textOf(scalarAt(vector, columns[c]?.type ?? { kind: "null" }, row))).join("|"));
    }
  }
  return texts;
}

function rowText({ columns }: TableModel, row: ModelRow): string {
  return columns.map(({ name }) => textOf(row.get(name))).join("|");
}

async function send(life: LifeState, writer: MachineFrontend, table: LiveTable, batch: RowsToWrite): Promise<void> {
  const { engine } = writer.frontend;
  if (!table.isLines) {
    await engine.admit();
    await engine.write(DATABASE, rowBatch(table, batch), { autoCreate: true, tableOptions: {} });
    return;
  }
  const bytes = new TextEncoder().encode(linesOf(table.name, table.model, batch.rows));
  const options = { database: DATABASE, precision: "ns" as const, defaultTimeNanos: 0n, schemas: engine, timeColumn: TIME };
  const decoder = life.decoderOf(writer);
  await decodedAndWritten(async () => {
    await engine.admit();
    const { batch: decoded, errors } = decoder.decode(bytes, options);
    if (errors.length > 0) throw new Error(`line refused: ${errors[0]?.reason}: ${errors[0]?.text}`);
    await engine.write(DATABASE, decoded, { autoCreate: true, tableOptions: {} });
  });
}

/** Deletes rows by keys, by ranges or by values. */
export async function remove(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `delete from ${table.name}`;
  const { random } = life;
  if (table.model.mode === "append") {
    const frontend = await life.insist(() => life.frontend());
    return refused(life.tableOf(frontend, table).deleteRange({ timeRange: ALL_TIME, tagPredicates: [] }));
  }
  const ways = [removeKeys, removeRange, removeFound, removeByValue];
  await pick(random, ways)(life, table);
}

/** Keys that are there and keys that are not. */
async function removeKeys(life: LifeState, table: LiveTable): Promise<void> {
  const { random } = life;
  life.doing = `delete from ${table.name} by keys`;
  const there = table.model.scan({ timeRange: ALL_TIME, tagPredicates: [] }).filter(() => random.below(5) === 0);
  const keys = [...there, ...randomRows(random, table.random, table.model, [], random.below(4))];
  if (keys.length === 0) return;
  await life.insist(async () => {
    const { frontend } = await life.frontend();
    await frontend.engine.delete(DATABASE, keyBatch(table, keys));
  });
  table.model.delete(keys);
}

/** Tests of tags that are no lists cannot travel. */
async function removeRange(life: LifeState, table: LiveTable): Promise<void> {
  const { timeRange, tagPredicates: all } = randomScan(life.random, table.random, table.model);
  const tagPredicates = all.filter((predicate): predicate is TagPredicate & { kind: "in" } => predicate.kind === "in");
  life.doing = `delete from ${table.name} by range`;
  const gone = table.model.scan({ timeRange, tagPredicates });
  await life.insist(async (tries) => {
    const found = life.tableOf(await life.frontend(), table);
    const count = await found.deleteRange({ timeRange, tagPredicates });
    if (tries === 0 && count !== gone.length) throw new Error(`deleted ${count} rows; want ${gone.length}`);
  });
  table.model.delete(gone);
}

/** Rows that a scan found. */
async function removeFound(life: LifeState, table: LiveTable): Promise<void> {
  const { random } = life;
  const { model } = table;
  life.doing = `delete what was found in ${table.name}`;
  const found = model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
  const chosen = found.map(() => random.below(3) === 0);
  await life.insist(async (tries) => {
    const remote = life.tableOf(await life.frontend(), table);
    if (tries > 0) {
      const { frontend } = await life.frontend();
      const keys = found.filter((_, i) => chosen[i]);
      if (keys.length > 0) await frontend.engine.delete(DATABASE, keyBatch(table, keys)); // Some of them may be gone.
      return;
    }
    for (const part of await keysOf(remote, model.timeName, chosen)) await remote.deleteRows(part);
  });
  model.delete(found.filter((_, i) => chosen[i]));
}

/** A condition as SQL, and as the model has it. */
interface Condition {
  readonly text: string;
  holds(value: Scalar): boolean;
}

const CONDITIONS: readonly Condition[] = [
  { text: "IS NULL", holds: (value) => value === undefined },
  { text: "IS NOT NULL", holds: (value) => value !== undefined },
];
const NUMBER_CONDITIONS: readonly Condition[] = [
  { text: "= 1", holds: (value) => value !== undefined && Number(value) === 1 },
  { text: "< 50", holds: (value) => value !== undefined && Number(value) < 50 },
  { text: ">= 50", holds: (value) => value !== undefined && Number(value) >= 50 },
];

async function removeByValue(life: LifeState, table: LiveTable): Promise<void> {
  const { random } = life;
  const { model } = table;
  const { name, type } = pick(
    random,
    model.columns.filter(({ semantic }) => semantic === "field"),
  );
  const condition = pick(random, type.kind === "int" ? [...CONDITIONS, ...NUMBER_CONDITIONS] : CONDITIONS);
  const text = `DELETE FROM "${table.name}" WHERE "${name}" ${condition.text}`;
  life.doing = text;
  const gone = model.scan({ timeRange: ALL_TIME, tagPredicates: [] }).filter((row) => condition.holds(row.get(name)));
  await life.insist(async (tries) => {
    const { db } = await life.frontend();
    const [[, count] = []] = await sqlRows(db, text);
    if (tries === 0 && count !== String(gone.length)) throw new Error(`deleted ${count} rows; want ${gone.length}`);
  });
  model.delete(gone);
}
