/** The side of INTERSECT or EXCEPT that is held: its distinct rows, and what the other side makes of them. */
import { grown } from "../../../base/bytes/longer-array.ts";
import { growth } from "../../function/aggregate/accumulator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import { KeyTable, NO_ROW } from "../group-keys/key-table.ts";

type SetFilter = Extract<PlanNode, { kind: "set-filter" }>;

/** Positions of rows of a piece, ascending. */
export interface PassedRows {
  /** Those that stay. */
  readonly kept: Uint32Array;
  /** Those that others know, where some rows are not held. */
  readonly unknown: Uint32Array;
}

/** See the file header. */
export interface HeldSet {
  /** Distinct rows. */
  readonly size: number;
  /** Takes rows, new ones too. */
  add(batch: ExecBatch): void;
  /** Takes rows that are known; gives the positions of the others. */
  addKnown(batch: ExecBatch): Uint32Array;
  /** Takes rows of the other side. @param isPart whether rows that are not known are for others to decide */
  pass(batch: ExecBatch, isPart: boolean): PassedRows;
  /** What stays of the held rows, once all others have passed. */
  rest(): Iterable<ExecBatch>;
}

/** Rows of a batch of what stays. Reason: as of groups, printing one holds the thread. */
const REST_ROWS = 4096;

const NONE: Uint32Array = new Uint32Array(0);

function tableFor({ columns }: SetFilter, { budget }: ExecContext): KeyTable {
  return new KeyTable(
    columns.map(({ type }) => type),
    { nullsMatch: true },
    budget.reserve,
  );
}

/** Notes which rows are here. */
function noteMet(ids: Int32Array, met: Uint8Array): void {
  for (let row = 0; row < ids.length; row++) if ((ids[row] as number) >= 0) met[ids[row] as number] = 1;
}

/** Positions of rows that are not here. */
function strangersOf(ids: Int32Array): Uint32Array {
  const selection = new Uint32Array(ids.length);
  let count = 0;
  for (let row = 0; row < ids.length; row++) if (ids[row] === NO_ROW) selection[count++] = row;
  return selection.subarray(0, count);
}

/** Distinct rows with a mark each: whether the other side had them. */
abstract class MetRows implements HeldSet {
  protected readonly table: KeyTable;
  protected met: Uint8Array = new Uint8Array(0);
  private readonly held: (bytes: number) => void;

  constructor(node: SetFilter, context: ExecContext) {
    this.table = tableFor(node, context);
    this.held = growth(context.budget.reserve);
  }

  get size(): number {
    return this.table.size;
  }

  add(batch: ExecBatch): void {
    this.table.add(batch.vectors, batch.rowCount);
    this.held(this.table.size);
  }

  addKnown(batch: ExecBatch): Uint32Array {
    return this.table.strangers(batch.vectors, batch.rowCount);
  }

  abstract pass(batch: ExecBatch, isPart: boolean): PassedRows;
  abstract rest(): Iterable<ExecBatch>;
}

/** The left side, of which rows are marked that the right has. */
export class MarkedRows extends MetRows {
  private readonly wanted: 0 | 1;
  private readonly columnCount: number;

  constructor(node: SetFilter, context: ExecContext) {
    super(node, context);
    this.wanted = node.operator === "intersect" ? 1 : 0;
    this.columnCount = node.columns.length;
  }

  override pass(batch: ExecBatch, isPart: boolean): PassedRows {
    this.met = grown(this.met, this.table.size);
    const ids = this.table.find(batch.vectors, batch.rowCount);
    noteMet(ids, this.met);
    return { kept: NONE, unknown: isPart ? strangersOf(ids) : NONE };
  }

  override *rest(): Generator<ExecBatch> {
    const { table, wanted, columnCount } = this;
    const met = grown(this.met, table.size);
    for (let id = 0; id < table.size; ) {
      const ids = new Uint32Array(REST_ROWS);
      let count = 0;
      for (; id < table.size && count < REST_ROWS; id++) {
        ids[count] = id;
        count += met[id] === wanted ? 1 : 0;
      }
      if (count === 0) continue;
      const own = ids.subarray(0, count);
      yield { rowCount: count, vectors: Array.from({ length: columnCount }, (_, c) => table.vector(c, own)) };
    }
  }
}

/** The right side of INTERSECT: of each row the first that the left brings stays. */
export class RowsOnce extends MetRows {
  override pass(batch: ExecBatch, isPart: boolean): PassedRows {
    this.met = grown(this.met, this.table.size);
    const { met } = this;
    const ids = this.table.find(batch.vectors, batch.rowCount);
    const kept = new Uint32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      if (id === NO_ROW || met[id] === 1) continue;
      met[id] = 1;
      kept[count++] = row;
    }
    return { kept: kept.subarray(0, count), unknown: isPart ? strangersOf(ids) : NONE };
  }

  override rest(): Iterable<ExecBatch> {
    return [];
  }
}

/** With ALL: how often each distinct row of the right side is there, each against one of the left. */
export class CountedRows implements HeldSet {
  private readonly node: SetFilter;
  private readonly table: KeyTable;
  private readonly held: (bytes: number) => void;
  private counts: Uint32Array = new Uint32Array(0);

  constructor(node: SetFilter, context: ExecContext) {
    this.node = node;
    this.table = tableFor(node, context);
    this.held = growth(context.budget.reserve);
  }

  get size(): number {
    return this.table.size;
  }

  add(batch: ExecBatch): void {
    const ids = this.table.add(batch.vectors, batch.rowCount);
    this.counts = grown(this.counts, this.table.size);
    this.held(this.counts.byteLength);
    const { counts } = this;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      counts[id] = (counts[id] as number) + 1;
    }
  }

  addKnown(batch: ExecBatch): Uint32Array {
    const ids = this.table.find(batch.vectors, batch.rowCount);
    const { counts } = this;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      if (id !== NO_ROW) counts[id] = (counts[id] as number) + 1;
    }
    return strangersOf(ids);
  }

  pass(batch: ExecBatch, isPart: boolean): PassedRows {
    const { counts } = this;
    const intersect = this.node.operator === "intersect";
    const ids = this.table.find(batch.vectors, batch.rowCount);
    const kept = new Uint32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number;
      if (isPart && id === NO_ROW) continue;
      const found = id !== NO_ROW && (counts[id] as number) > 0;
      if (found) counts[id] = (counts[id] as number) - 1;
      if (found === intersect) kept[count++] = row;
    }
    return { kept: kept.subarray(0, count), unknown: isPart ? strangersOf(ids) : NONE };
  }

  rest(): Iterable<ExecBatch> {
    return [];
  }
}
