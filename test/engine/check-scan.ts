/**
 * Reads a table through a scan and holds the answer against the model.
 */
import type { Batch } from "../../src/column/batch.ts";
import type { DataType } from "../../src/column/data-type.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { compareValues } from "../../src/query/function/value/value.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { FieldCondition, RowTest, ScanBatch, ScanRequest } from "../../src/table/scan.ts";
import type { SeriesView } from "../../src/table/series-view.ts";
import { type ModelRow, type TableModel, textOf } from "./model.ts";

/** A scan under way: its snapshot is taken, its first batch read. */
export interface StartedScan {
  /** Reads the rest and compares. @throws Error that says what differs */
  finish(): Promise<void>;
}

/** A row of the answer. */
interface Answer {
  readonly values: readonly Scalar[];
}

/** Starts a scan and remembers what the model says now. */
export async function startScan(table: Table, model: TableModel, plain: ScanRequest): Promise<StartedScan> {
  const request = withTests(model, plain);
  const want = model.scan(request).filter((row) => passesAll(request, (place) => row.get(request.projection[place]!)));
  const atOnce = table.scanAtOnce?.(request);
  if (atOnce !== undefined) compare(model, request, want, answersOf(model, request, atOnce));
  const numbers = request.numbers ?? table.series;
  const batches = table.scan({ ...request, numbers })[Symbol.asyncIterator]();
  const rows: Answer[] = [];
  let next = await batches.next();
  if (next.done !== true) readBatch(numbers, model, request, next.value, rows);
  return {
    async finish() {
      while (next.done !== true) {
        next = await batches.next();
        if (next.done !== true) readBatch(numbers, model, request, next.value, rows);
      }
      compare(model, request, want, rows);
    },
  };
}

/** Scans and compares. @throws Error that says what differs */
export async function checkScan(table: Table, model: TableModel, request: ScanRequest): Promise<void> {
  await (await startScan(table, model, request)).finish();
}

/** A test of rows that says which values it takes: some by a hash of what they hold, or those of a range. */
interface KnownTest extends RowTest {
  wants(values: readonly Scalar[]): boolean;
}

/** Half of the requests with tests: chosen by what they ask, so that no other choice changes. */
function withTests(model: TableModel, request: ScanRequest): ScanRequest {
  const { projection, limit, newestPerSeries, timeRange } = request;
  const seed = Number(Bun.hash(`${projection.join()} ${timeRange.start} ${model.rowCount}`) % 1_000_003n);
  if (projection.length === 0 || limit !== undefined || newestPerSeries === true || seed % 2 === 0) return request;
  const place = (n: number): number => Math.floor(seed / (n + 2)) % projection.length;
  const one = hashTest(model, request, [place(0)], seed % 9);
  const two = hashTest(model, request, [...new Set([place(1), place(2)])], 4 + (seed % 5));
  const range = seed % 7 < 4 ? rangeTest(model, request, place(3), seed) : undefined;
  const rowTests = [...(seed % 3 === 0 ? [one] : [one, two]), ...(range === undefined ? [] : [range])];
  const unread = seed % 5 === 0 ? [place(0)] : [];
  return { ...request, rowTests, unread };
}

/** Takes `share` of 8 rows. */
function hashTest(model: TableModel, request: ScanRequest, columns: readonly number[], share: number): KnownTest {
  return testOf(model, request, columns, (values) => Bun.hash(values.map(textOf).join()) % 8n < share);
}

/** Takes rows up to that of some row in one column, or from there on, and tells storage so from its second batch on, as a top-N does. */
function rangeTest(model: TableModel, request: ScanRequest, place: number, seed: number): KnownTest | undefined {
  const name = request.projection[place] ?? "";
  const values = model.scan(request).map((row) => row.get(name));
  const end = values[Math.floor(seed / 100) % Math.max(1, values.length)];
  if (model.tagNames.includes(name) || end === undefined || !RANGE_KINDS.has(typeOf(model, name).kind)) return undefined;
  const isUpper = Math.floor(seed / 2) % 2 === 1; // Seeds are odd here.
  const nullsPass = seed % 11 < 5;
  const wants = ([value]: readonly Scalar[]): boolean => {
    if (value === undefined) return nullsPass;
    return isUpper ? compareValues(value, end) <= 0 : compareValues(value, end) >= 0;
  };
  const test = testOf(model, request, [place], wants);
  const bound = { place, min: isUpper ? undefined : end, max: isUpper ? end : undefined, nullsPass };
  let isTold = seed % 5 === 1;
  return {
    ...test,
    bound: () => (isTold ? bound : undefined),
    async select(batch) {
      isTold = true;
      return await test.select(batch);
    },
  };
}

const RANGE_KINDS: ReadonlySet<DataType["kind"]> = new Set(["int", "float", "date", "time", "timestamp", "string"]);

function testOf(
  model: TableModel,
  { projection }: ScanRequest,
  columns: readonly number[],
  wants: (values: readonly Scalar[]) => boolean,
): KnownTest {
  const types = columns.map((place) => typeOf(model, projection[place]));
  return {
    columns,
    wants,
    async select({ rowCount, vectors }) {
      const rows = Array.from({ length: rowCount }, (_, row) => row);
      const kept = rows.filter((row) => wants(vectors.map((vector, c) => scalarAt(vector, types[c]!, row))));
      return kept.length === rowCount ? undefined : Uint32Array.from(kept);
    },
  };
}

function passesAll(request: ScanRequest, valueAt: (place: number) => Scalar): boolean {
  return (request.rowTests ?? []).every((test) => (test as KnownTest).wants(test.columns.map(valueAt)));
}

function typeOf(model: TableModel, name: string | undefined): DataType {
  return model.columns.find((column) => column.name === name)?.type ?? { kind: "null" };
}

function readBatch(numbers: SeriesView, model: TableModel, request: ScanRequest, batch: ScanBatch, rows: Answer[]): void {
  checkRuns(numbers, model, request, batch);
  rows.push(...answersOf(model, request, batch));
}

/** Rows that were not tested are tested here, as whoever reads them does. */
function answersOf(model: TableModel, request: ScanRequest, batch: Batch & Pick<ScanBatch, "isTested">): readonly Answer[] {
  const types = request.projection.map((name) => typeOf(model, name));
  const rows = Array.from({ length: batch.rowCount }, (_, row) => ({
    values: batch.vectors.map((vector, c) => scalarAt(vector, types[c] ?? { kind: "null" }, row)),
  }));
  return batch.isTested === true ? rows : rows.filter(({ values }) => passesAll(request, (place) => values[place]));
}

/** Runs cover the batch, are of one series each, and their times ascend. */
function checkRuns(numbers: SeriesView, model: TableModel, request: ScanRequest, batch: ScanBatch): void {
  const { starts, series } = batch.runs;
  if (batch.vectors.length !== request.projection.length) fail("a vector a column", batch.vectors.length, request.projection.length);
  if (starts.length !== series.length + 1) fail("one start more than runs", starts.length, series.length + 1);
  if (starts[0] !== 0 || starts[series.length] !== batch.rowCount) fail("runs cover the batch", [...starts], batch.rowCount);
  const timeAt = request.projection.indexOf(model.timeName);
  for (let run = 0; run < series.length; run++) {
    const from = starts[run]!;
    const to = starts[run + 1]!;
    if (from >= to) fail("runs are not empty", from, to);
    const number = series[run]!;
    if (number >= numbers.count) fail("series numbers are below the count", number, numbers.count);
    checkTags(numbers, model, request, batch, number, from, to);
    const times = batch.vectors[timeAt];
    if (times === undefined) continue;
    if (times.kind !== "time") fail("times are a time vector", times.kind, "time");
    for (let row = from + 1; row < to; row++) {
      const [before, now] = [times.offsets[row - 1]!, times.offsets[row]!];
      if (now < before || (now === before && model.mode !== "append")) fail("times of a run ascend", now, before);
    }
  }
}

function checkTags(
  numbers: SeriesView,
  model: TableModel,
  request: ScanRequest,
  batch: ScanBatch,
  series: number,
  from: number,
  to: number,
): void {
  for (const name of model.tagNames) {
    const column = request.projection.indexOf(name);
    const value = numbers.dictionaryOf(name)[numbers.codesOf(name)[series]!];
    for (const predicate of request.tagPredicates) {
      const isWanted = predicate.kind === "in" ? predicate.values.includes(value) : predicate.test(value);
      if (predicate.column === name && !isWanted) fail(`tag ${name} of a run meets its predicate`, value, predicate);
    }
    const vector = batch.vectors[column];
    if (vector === undefined) continue;
    if (vector.kind !== "dictionary") fail("tags are a dictionary vector", vector.kind, "dictionary");
    for (let row = from; row < to; row++) {
      const got = vector.dictionary[vector.codes[row]!];
      if (got !== value) fail(`tag ${name} is that of the run's series`, got, value);
    }
  }
}

function compare(model: TableModel, request: ScanRequest, want: readonly ModelRow[], rows: readonly Answer[]): void {
  const shown = request.projection.map((name, place) => ({ name, place })).filter(({ place }) => request.unread?.includes(place) !== true);
  const textOfModel = (row: ModelRow): string => shown.map(({ name }) => textOf(row.get(name))).join("|");
  const got = rows.map(({ values }) => shown.map(({ place }) => textOf(values[place])).join("|"));
  const wanted = want.map(textOfModel);
  const isPruned = request.fieldBounds.length > 0 || (request.fieldConditions ?? []).length > 0;
  if (request.order === "series-time" && !isPruned) {
    // Rows of one series and time are in any order, which only append mode can show.
    const ordered = model.mode === "append" ? sortTies(model, want, textOfModel) : wanted;
    const answer = model.mode === "append" ? sortTiesLike(model, want, got) : got;
    const length = request.limit === undefined ? ordered.length : Math.min(got.length, ordered.length);
    expectEqual("rows in order", answer.slice(0, length), ordered.slice(0, length), model.mode === "append" && request.limit !== undefined);
    if (got.length > ordered.length) fail("no more rows than there are", got.length, ordered.length);
  }
  const left = new Map<string, number>();
  for (const text of wanted) left.set(text, (left.get(text) ?? 0) + 1);
  for (const text of got) {
    const count = left.get(text) ?? 0;
    if (count === 0) fail("a row is one of the model's, and no more often", text, `${wanted.length} rows; ${got.length} came`);
    left.set(text, count - 1);
  }
  const must = want.filter((row) => meetsBounds(request, row) && meetsAll(request.fieldConditions ?? [], row)).map(textOfModel);
  if (request.limit !== undefined) {
    if (got.length < Math.min(request.limit, must.length)) fail("rows reach the limit", got.length, request.limit);
    return;
  }
  const all = new Map<string, number>();
  for (const text of got) all.set(text, (all.get(text) ?? 0) + 1);
  for (const text of must) {
    const count = all.get(text) ?? 0;
    if (count === 0) fail("every row of the model is there", `${got.length} rows without ${text}`, `${must.length} rows`);
    all.set(text, count - 1);
  }
}

/** Rows of equal series and time sorted by their text, so that any order among them compares equal. */
function sortTies(model: TableModel, want: readonly ModelRow[], textOfModel: (row: ModelRow) => string): string[] {
  return inGroups(model, want, want.map(textOfModel));
}

function sortTiesLike(model: TableModel, want: readonly ModelRow[], got: readonly string[]): string[] {
  return got.length === want.length ? inGroups(model, want, got) : [...got];
}

function inGroups(model: TableModel, want: readonly ModelRow[], texts: readonly string[]): string[] {
  const names = [...model.tagNames, model.timeName];
  const keys = want.map((row) => names.map((name) => textOf(row.get(name))).join("|"));
  const out: string[] = [];
  for (let from = 0; from < keys.length; ) {
    let to = from + 1;
    while (to < keys.length && keys[to] === keys[from]) to++;
    out.push(...texts.slice(from, to).sort());
    from = to;
  }
  return out;
}

function meetsBounds(request: ScanRequest, row: ModelRow): boolean {
  return request.fieldBounds.every(({ column, min, max }) => {
    const value = row.get(column);
    if (value === undefined || typeof value === "string" || value instanceof Uint8Array) return false;
    const number = Number.isNaN(value) ? Number.POSITIVE_INFINITY : Number(value); // NaN sorts above all numbers.
    return !(min !== undefined && number < min) && !(max !== undefined && number > max);
  });
}

function meetsAll(conditions: readonly FieldCondition[], row: ModelRow): boolean {
  return conditions.every((condition) => meets(condition, row));
}

function meets(condition: FieldCondition, row: ModelRow): boolean {
  switch (condition.kind) {
    case "all":
      return meetsAll(condition.of, row);
    case "any":
      return condition.of.some((part) => meets(part, row));
    default: {
      const value = row.get(condition.column);
      if (value === undefined) return false;
      if (condition.kind === "text") return typeof value === "string" && value.includes(condition.part.text);
      if (condition.kind === "in") return condition.values.some((wanted) => wanted !== undefined && compareValues(value, wanted) === 0);
      const { min, max } = condition;
      return (min === undefined || compareValues(value, min) >= 0) && (max === undefined || compareValues(value, max) <= 0);
    }
  }
}

function expectEqual(what: string, got: readonly string[], want: readonly string[], onlyCount: boolean): void {
  if (got.length !== want.length) fail(`${what}: as many`, got.length, want.length);
  if (onlyCount) return;
  for (let i = 0; i < got.length; i++) if (got[i] !== want[i]) fail(`${what}: row ${i}`, got[i], want[i]);
}

function fail(what: string, got: unknown, want: unknown): never {
  const plain = (_: string, part: unknown): unknown => (typeof part === "bigint" ? String(part) : part);
  const show = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, plain) ?? "none")).slice(0, 1000);
  throw new Error(`${what}; got ${show(got)}; want ${show(want)}`);
}
