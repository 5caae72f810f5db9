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
import { takeRows } from "../../../column/take-rows.ts";
import type { RowTest } from "../../../table/scan.ts";
import { columnsOf, inlined, isVolatile, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { NodeOf, PlanNode } from "../contract/node.ts";
import { notBehind, TextBound } from "../kernels/value-bound.ts";
import { isLongExpression } from "../rows/short-pieces.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";

/** Most rows that are kept of a page. Reason: of more, few are left out. */
const KEEP_MAX = 10_000;

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
  private readonly first: { readonly place: number; readonly descending: boolean } | undefined;
  private textBound: { readonly of: BatchKeys; readonly bound: TextBound } | undefined;

  constructor({ scan, items, keep }: SortedScan, context: ExecContext) {
    const places = new Set<number>();
    for (const { expression } of items) columnsOf(expression, places);
    const columns = [...places];
    const own = items.map((item) => ({ ...item, expression: mapColumns(item.expression, (index) => columns.indexOf(index)) }));
    const headers = columns.flatMap((place) => scan.columns[place] ?? []);
    this.sorter = new Sorter(own, headers, context);
    const [item] = own;
    this.first = item?.expression.kind === "column" ? { place: item.expression.index, descending: item.descending } : undefined;
    this.isText = item?.expression.type.kind === "string";
    this.keep = keep;
    this.context = context;
    this.early = { columns, select: async (batch) => this.before(batch) };
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

  private before(batch: Batch): Uint32Array | undefined {
    const { bound, sorter } = this;
    if (bound === undefined) return undefined;
    const rough = this.roughlyBefore(batch, bound);
    if (rough === undefined || rough.length === batch.rowCount) return sorter.before(batch, bound);
    if (rough.length === 0) return rough;
    const rows = { rowCount: rough.length, vectors: batch.vectors.map((vector) => takeRows(vector, rough)) };
    const before = sorter.before(rows, bound);
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
    const { sorter, keep } = this;
    const before = this.before(batch);
    const count = before?.length ?? batch.rowCount;
    if (count <= keep || keep === 0) return before;
    const rows = before === undefined ? batch : { rowCount: count, vectors: batch.vectors.map((vector) => takeRows(vector, before)) };
    const order = await sorter.ordered(rows, this.context, 0, keep);
    const bound = sorter.boundAt(rows, order[keep - 1] ?? 0);
    if (bound !== undefined) this.tighten(bound);
    const first = order.slice().sort();
    if (before !== undefined) for (let i = 0; i < first.length; i++) first[i] = before[first[i] as number] as number;
    return first;
  }
}
