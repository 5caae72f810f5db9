/**
 * ORDER BY with a LIMIT over a scan: rows are tested by their keys, so that storage reads the other columns of those alone that may be
 * among the first.
 *
 *   keys before the bound? ─► the filter's tests ─► of what is left of a page the first so many, whose last key is the new bound
 *
 * The sort above, which knows the rows of all pages, tells its bound too. Each page keeps the order of its rows, so of equal keys the first
 * rows stay.
 */
import type { Batch } from "../../../column/batch.ts";
import { countingUp } from "../../../base/bytes/counting-up.ts";
import { takeRows } from "../../../column/take-rows.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { RowBound, RowTest } from "../../../table/scan.ts";
import { columnsOf, inlined, isVolatile, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { NodeOf, PlanNode } from "../contract/node.ts";
import { notBehind, TextBound } from "../kernels/value-bound.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { valueAt } from "../../expression/vector-values.ts";
import { isInterval } from "../../function/value/value.ts";
import { rowsBetween } from "../rows/pieces.ts";
import { isLongExpression } from "../rows/short-pieces.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";

/** Most rows that are kept of a page. Reason: of more, few are left out. */
const KEEP_MAX = 10_000;
/**
 * Rows of a page that are sorted first, at least, and for each that is kept: of the others only those before the bound that these give,
 * of twice as many at a time. Ten of a page by time and text: 4.3 ms where all rows are sorted, since their texts are ranked, 0.2 so.
 */
const CHUNK_ROWS_MIN = 64;
const CHUNK_PER_KEPT = 2;

/** A sort's input down to the scan: projections above a filter, if any. */
export interface SortedScan {
  readonly scan: NodeOf<"scan">;
  readonly filter: NodeOf<"filter"> | undefined;
  /** From the scan up. */
  readonly projections: readonly NodeOf<"project">[];
  /** The keys over the scan. */
  readonly items: NodeOf<"sort">["items"];
  readonly keep: number;
}

/** The rule; undefined where it does not hold: all rows are wanted, or keys are long to compute or not the same each time. */
export function sortedScan({ input, items, keep }: NodeOf<"sort">): SortedScan | undefined {
  if (keep === undefined || keep > KEEP_MAX) return undefined;
  const projections: NodeOf<"project">[] = [];
  let own = items;
  let at: PlanNode = input;
  for (; at.kind === "project"; at = at.input) {
    const { expressions } = at;
    projections.push(at);
    own = own.map((item) => ({ ...item, expression: inlined(item.expression, expressions) }));
  }
  const filter = at.kind === "filter" ? at : undefined;
  const scan = filter?.input ?? at;
  if (scan.kind !== "scan" || own.some(({ expression }) => isUnfit(expression))) return undefined;
  return { scan, filter, projections: projections.reverse(), items: own, keep };
}

function isUnfit(expression: TypedExpression): boolean {
  return isVolatile(expression) || isLongExpression(expression) || columnsOf(expression).size === 0;
}

/** The first key of an order, where it is a column as it is. */
interface FirstKey {
  /** Among the columns of the keys, and in the scan. */
  readonly place: number;
  readonly scanned: number;
  readonly type: DataType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

function firstKeyOf(item: SortItem | undefined, columns: readonly number[]): FirstKey | undefined {
  if (item?.expression.kind !== "column") return undefined;
  const { index: place, type } = item.expression;
  const scanned = columns[place];
  return scanned === undefined ? undefined : { place, scanned, type, descending: item.descending, nullsFirst: item.nullsFirst };
}

/** Longest text that pages are held against. Reason: their bounds are 64 bytes long. */
const BOUND_LETTERS_MAX = 256;

/** Values of the first key in rows that do not come behind a bound, whose key is row 0 of `vector`; undefined: pages are not told. */
function rowBoundOf({ type, scanned: place, descending, nullsFirst }: FirstKey, vector: Vector | undefined): RowBound | undefined {
  const value = vector === undefined ? undefined : valueAt(vector, type, 0);
  if (value === undefined || isInterval(value)) return undefined; // NULL: all that have a value come before it, or none.
  if (!PAGE_BOUND_KINDS.has(type.kind) || (typeof value === "string" && value.length > BOUND_LETTERS_MAX)) return undefined;
  return { place, min: descending ? value : undefined, max: descending ? undefined : value, nullsPass: nullsFirst };
}

/** Types whose order is that of the bounds of pages. */
const PAGE_BOUND_KINDS: ReadonlySet<DataType["kind"]> = new Set(["int", "float", "date", "time", "timestamp", "string"]);

/** See the file header. */
export class FirstRowsTests {
  private readonly early: RowTest;
  private readonly late: RowTest;
  private readonly isText: boolean;
  private readonly sorter: Sorter;
  private readonly keep: number;
  private readonly context: ExecContext;
  private bound: BatchKeys | undefined;
  /** The first key, where it is a column as it is. */
  private readonly first: FirstKey | undefined;
  private pages: { readonly of: BatchKeys; readonly bound: RowBound | undefined } | undefined;
  private textBound: { readonly of: BatchKeys; readonly bound: TextBound } | undefined;

  constructor({ scan, items, keep }: SortedScan, context: ExecContext) {
    const places = new Set<number>();
    for (const { expression } of items) columnsOf(expression, places);
    const columns = [...places];
    const own = items.map((item) => ({ ...item, expression: mapColumns(item.expression, (index) => columns.indexOf(index)) }));
    const headers = columns.flatMap((place) => scan.columns[place] ?? []);
    this.sorter = new Sorter(own, headers, context);
    const [item] = own;
    this.first = firstKeyOf(item, columns);
    this.isText = item?.expression.type.kind === "string";
    this.keep = keep;
    this.context = context;
    this.early = { columns, bound: () => this.pageBound(), select: async (batch) => this.before(batch) };
    this.late = { columns, select: (batch) => this.firstOf(batch) };
  }

  /** These tests around those of a filter, the cheapest first: texts are looked at once what costs less than 2 has told what it can. */
  around(tests: readonly (RowTest & { readonly cost: number })[]): readonly RowTest[] {
    const { early, late, isText } = this;
    const quick = isText ? tests.filter(({ cost }) => cost < 2) : [];
    return [...quick, early, ...tests.slice(quick.length), late];
  }

  /** From now on only rows before `bound` are wanted, which others have come to. */
  readonly tighten = (bound: BatchKeys): void => {
    if (this.bound === undefined || this.sorter.compare(bound, 0, this.bound, 0) < 0) this.bound = bound;
  };

  /** The same as values of the first key, for pages: 375 pages of times behind the bound cost 20 ms to read, 0.1 ms so. */
  private pageBound(): RowBound | undefined {
    const { first, bound } = this;
    if (first === undefined || bound === undefined) return undefined;
    if (this.pages?.of !== bound) this.pages = { of: bound, bound: rowBoundOf(first, bound.vectors[0]) };
    return this.pages.bound;
  }

  private before(batch: Batch): Uint32Array | undefined {
    const { bound, sorter } = this;
    if (bound === undefined) return undefined;
    const rough = this.roughlyBefore(batch, bound);
    if (rough === undefined || rough.length === batch.rowCount) return sorter.before(batch, bound);
    if (rough.length === 0) return rough;
    const before = sorter.before(takenRows(batch, rough), bound);
    for (let i = 0; i < before.length; i++) before[i] = rough[before[i] as number] as number;
    return before;
  }

  /** Rows that the first key alone does not rule out; undefined: it tells nothing so. */
  private roughlyBefore(batch: Batch, bound: BatchKeys): Uint32Array | undefined {
    const { first } = this;
    const vector = first === undefined ? undefined : batch.vectors[first.place];
    const most = bound.vectors[0];
    if (first === undefined || vector === undefined || most === undefined) return undefined;
    if (vector.kind !== "coded") return notBehind(vector, most, batch.rowCount, first.descending);
    const key = bound.keys?.[0];
    if (key?.kind !== "texts" || key.validity !== undefined) return undefined;
    if (this.textBound?.of !== bound) this.textBound = { of: bound, bound: new TextBound(key) };
    return this.textBound.bound.notBehind(vector, batch.rowCount);
  }

  private async firstOf(batch: Batch): Promise<Uint32Array | undefined> {
    const { keep } = this;
    const before = this.before(batch);
    const count = before?.length ?? batch.rowCount;
    if (count <= keep || keep === 0) return before;
    const rows = before === undefined ? batch : takenRows(batch, before);
    let to = Math.min(count, Math.max(CHUNK_ROWS_MIN, CHUNK_PER_KEPT * keep));
    let first = await this.firstAmong(rows, countingUp(to));
    for (let from = to; from < count; from = to) {
      to = Math.min(count, 2 * from);
      const some = this.before(rowsBetween(rows, from, to)) ?? countingUp(to - from);
      if (some.length === 0) continue;
      for (let i = 0; i < some.length; i++) some[i] = (some[i] as number) + from;
      first = await this.firstAmong(rows, Uint32Array.from([...first, ...some]));
    }
    if (before !== undefined) for (let i = 0; i < first.length; i++) first[i] = before[first[i] as number] as number;
    return first;
  }

  /** The first `keep` of the rows at `places`, ascending, in the order of places; the last of them is a new bound. */
  private async firstAmong(rows: Batch, places: Uint32Array): Promise<Uint32Array> {
    const { sorter, keep, context } = this;
    if (places.length <= keep) return places;
    const some = takenRows(rows, places);
    const order = await sorter.ordered(some, context, 0, keep);
    const bound = sorter.boundAt(some, order[keep - 1] ?? 0);
    if (bound !== undefined) this.tighten(bound);
    const first = order.slice().sort();
    for (let i = 0; i < first.length; i++) first[i] = places[first[i] as number] as number;
    return first;
  }
}

function takenRows({ vectors }: Batch, picks: Uint32Array): Batch {
  return { rowCount: picks.length, vectors: vectors.map((vector) => takeRows(vector, picks)) };
}
