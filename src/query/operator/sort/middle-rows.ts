/**
 * Few rows from the middle of an order, of more rows than memory holds: `ORDER BY … LIMIT 10 OFFSET 4000000`. Rows are neither sorted nor
 * merged, and nothing but their values is held or written:
 *
 *   1. rows go to disk as they came, a block at a time, whenever memory is full; of each `stride`-th the keys are kept
 *   2. two rows of this sample, sorted, are likely to have the places that are wanted between them
 *   3. all rows are read again: those before the lower one are counted, those between the two are held and sorted
 *
 * The count says whether the sample was right. If it was not, or if too many rows lie between the two since many are equal, rows are sorted
 * in the usual way, without those of which it is known that they are not wanted.
 *
 * Measured (5M rows of a text and an integer, ten behind 4M, `memory.limit` 768 MiB; processor ms): sorted runs over the disk 4,100, this
 * 440 in memory, since only values are held; with plenty 750, now 400. By texts of 32 bytes, which go to disk: 2,300.
 */
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch, HeldRows } from "../rows/held-rows.ts";
import type { BatchKeys, Sorter } from "../rows/sorter.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import type { SortOrder } from "./sort-order.ts";

/** Parts of the rows before them that the wanted rows are, and of the held rows that are behind those left out, at most and at least. */
const WANTED_PART = 0.25;
const SKIPPED_PART = 0.5;
/** What has to fit beside rows in memory, as a part of them. */
const KEPT_PART = 0.125;
/** Keys of so many rows are a sample, up to twice as many. */
const SAMPLE_ROWS = 16_384;
/** Every so manieth row at most: keys are a part of what rows take. */
const STRIDE_MIN = 16;
/** Standard deviations of a place in the sample that are left on either side: one guess of 16,000 is wrong. */
const DEVIATIONS = 4;

/** Whether few rows are wanted, far behind many of `heldRows`. */
export function isMiddle({ keep, skip = 0, isWhole = false }: SortOrder, heldRows: number): boolean {
  return !isWhole && keep !== undefined && keep - skip <= skip * WANTED_PART && skip >= heldRows * SKIPPED_PART;
}

/** Places `[from, to)` of an order. */
interface Places {
  readonly from: number;
  readonly to: number;
}

/** Two rows of a sample; undefined: all rows come behind the lower one, or before the upper one. */
interface Bounds {
  readonly low: BatchKeys | undefined;
  readonly high: BatchKeys | undefined;
}

/** Sorts rows in the usual way, in places `[skip, keep)`. */
type SortAll = (input: AsyncIterable<ExecBatch>, skip: number, keep: number) => AsyncIterable<ExecBatch>;

/** See the file header. */
export class MiddleRows {
  private rowCount = 0;
  private spilled: SpilledRows | undefined;
  private readonly order: SortOrder;
  private readonly places: Places;
  private readonly rows: HeldRows;
  private readonly sorter: Sorter;
  private readonly sample: KeySample;
  private readonly budget: MemoryBudget;
  private readonly context: ExecContext;
  private readonly spill: SpillContext;

  /** @param rows rows that came before; from now on they are counted with their values alone */
  constructor(order: SortOrder, rows: HeldRows, sorter: Sorter, context: ExecContext, spill: SpillContext) {
    this.order = order;
    this.places = { from: order.skip ?? 0, to: order.keep ?? Number.POSITIVE_INFINITY };
    this.rows = rows;
    this.sorter = sorter;
    this.context = context;
    this.spill = spill;
    this.budget = context.budget;
    this.sample = new KeySample(order, sorter, context, Math.ceil(rows.rowCount / SAMPLE_ROWS));
    this.rowCount = rows.rowCount;
    rows.release(sorter.rowBytes);
    for (const part of rows.batches()) this.sample.add(part);
  }

  /** Takes rows, borrowed. */
  async add(batch: ExecBatch): Promise<void> {
    this.sample.add(batch);
    this.rowCount += batch.rowCount;
    if (!this.spill.fits(this.rows.costOf(batch), this.budget)) await this.write();
    this.rows.add(batch);
  }

  /** Rows that are held go to disk as they came. */
  private async write(): Promise<void> {
    this.spilled ??= this.spill.rowsIn(await this.spill.create(), this.order.columns);
    for (const part of this.rows.drain()) {
      checkCancelled(this.context);
      await this.spilled.add(part);
      await this.context.pace.turn();
    }
  }

  /** The rows of the places that are wanted. */
  async *wanted(sortAll: SortAll): AsyncGenerator<ExecBatch> {
    const { from, to } = this.places;
    if (from >= this.rowCount) return;
    // What lies between the bounds takes the memory that rows had.
    if (this.spilled !== undefined || !this.spill.fits(this.rows.bytesHeld * KEPT_PART, this.budget)) await this.write();
    await this.spilled?.finish();
    const bounds = await this.sample.bounds(this.places, this.rowCount);
    const kept = new HeldRows(this.order.columns, this.budget, this.sorter.rowBytes);
    const { before, within, isAll } = await this.count(bounds, kept);
    const isRight = before <= from && before + within >= Math.min(to, this.rowCount);
    if (isRight && isAll) {
      const all = await kept.joinedInTurns(this.context);
      const sorted = await this.sorter.ordered(all, this.context, from - before, to - before);
      yield gatherBatch(all, sorted, sorted.length);
      return;
    }
    kept.clear();
    if (isRight) yield* sortAll(this.between(bounds), from - before, to - before);
    else yield* sortAll(this.all(), from, to);
  }

  /** Counts rows before the lower bound and those between the two, and holds the latter as long as they fit. */
  private async count(
    bounds: Bounds,
    kept: HeldRows,
  ): Promise<{ readonly before: number; readonly within: number; readonly isAll: boolean }> {
    let [before, within, isAll] = [0, 0, true];
    for await (const batch of this.all()) {
      const split = this.sorter.split(batch, bounds.low, bounds.high);
      before += split.before;
      within += split.within.length;
      if (!isAll || split.within.length === 0) continue;
      const some = gatherBatch(batch, split.within, split.within.length);
      isAll = this.spill.fits(kept.costOf(some), this.budget);
      if (isAll) kept.addOwn(some);
      else kept.clear();
    }
    return { before, within, isAll };
  }

  /** The rows between two bounds, in the order they came in. */
  private async *between({ low, high }: Bounds): AsyncGenerator<ExecBatch> {
    for await (const batch of this.all()) {
      const { within } = this.sorter.split(batch, low, high);
      if (within.length > 0) yield gatherBatch(batch, within, within.length);
    }
  }

  /** All rows, in the order they came in. */
  private async *all(): AsyncGenerator<ExecBatch> {
    for await (const batch of this.spilled?.read() ?? []) {
      checkCancelled(this.context);
      yield batch;
      await this.context.pace.turn();
    }
    for (const batch of this.rows.batches()) {
      checkCancelled(this.context);
      yield batch;
      await this.context.pace.turn();
    }
  }
}

/** The keys of every `stride`-th row. */
class KeySample {
  private seen = 0;
  private stride: number;
  private readonly values: HeldRows;
  private readonly sorter: Sorter;
  private readonly context: ExecContext;

  constructor({ items }: SortOrder, sorter: Sorter, context: ExecContext, stride: number) {
    this.stride = Math.max(STRIDE_MIN, stride);
    this.sorter = sorter;
    this.context = context;
    const headers = items.map(({ expression }, i) => ({ name: `key ${i}`, type: expression.type }));
    this.values = new HeldRows(headers, context.budget, sorter.rowBytes);
  }

  add(batch: ExecBatch): void {
    const { stride, seen } = this;
    const rows = new Uint32Array(Math.ceil(batch.rowCount / stride));
    let count = 0;
    for (let row = (stride - (seen % stride)) % stride; row < batch.rowCount; row += stride) rows[count++] = row;
    this.seen += batch.rowCount;
    if (count > 0) this.values.add(this.sorter.valuesOf(gatherBatch(batch, rows, count)));
    if (this.values.rowCount > 2 * SAMPLE_ROWS) this.thin();
  }

  /** Keeps every second row, from the first on: those of every second multiple of the stride. */
  private thin(): void {
    const half = Math.ceil(this.values.rowCount / 2);
    this.values.keep(
      Uint32Array.from({ length: half }, (_, i) => 2 * i),
      half,
    );
    this.stride *= 2;
  }

  /** Two rows between which places of `rowCount` rows are likely to be. */
  async bounds({ from, to }: Places, rowCount: number): Promise<Bounds> {
    const values = await this.values.joinedInTurns(this.context);
    const sorted = await this.sorter.orderedValues(values, this.context);
    const { length } = sorted;
    const marginOf = (part: number): number => DEVIATIONS * Math.sqrt(length * part * (1 - part)) + 2;
    const [first, last] = [from / rowCount, Math.min(1, to / rowCount)];
    const at = (place: number): BatchKeys | undefined => {
      const row = sorted[place];
      return row === undefined ? undefined : this.sorter.keysOfValues(gatherBatch(values, Uint32Array.of(row), 1));
    };
    const low = Math.floor(first * length - marginOf(first));
    const high = Math.ceil(last * length + marginOf(last));
    const bounds = { low: low < 0 ? undefined : at(low), high: at(high) };
    this.values.clear();
    return bounds;
  }
}
