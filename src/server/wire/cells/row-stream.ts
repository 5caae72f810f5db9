/**
 * The rows of one result, straight from their vectors into the outgoing buffer, piece by piece, as many at a time as are asked for, with
 * turns for others and waits for slow clients in between. How a row looks is its protocol's: printers and a loop that writes rows.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Outgoing } from "../outgoing.ts";
import { type CellPrinter, Cells, pieceRows } from "./cells.ts";

/** Appends rows `[from, to)` of a piece, one at least, up to about half of `ANSWER_BYTES`; returns where to go on. */
export type RowWriter = (columns: readonly Cells[], from: number, to: number, outgoing: Outgoing) => number;

/** Where rows go, and beside what. */
export interface RowsContext {
  readonly outgoing: Outgoing;
  readonly scheduler: Scheduler;
}

/** Writes all rows of a small batch, without turns and waits. */
export function writeBatch(batch: Batch, printers: readonly CellPrinter[], outgoing: Outgoing, write: RowWriter): void {
  const columns = printers.map(() => Cells.take());
  try {
    for (let start = 0; start < batch.rowCount; ) {
      const rowCount = pieceRows(batch, start);
      for (let i = 0; i < columns.length; i++) printPiece(columns[i], printers[i], batch.vectors[i], start, rowCount);
      for (let from = 0; from < rowCount; ) from = write(columns, from, rowCount, outgoing);
      start += rowCount;
    }
  } finally {
    for (const cells of columns) cells.giveBack();
  }
}

function printPiece(
  cells: Cells | undefined,
  printer: CellPrinter | undefined,
  vector: Vector | undefined,
  start: number,
  rowCount: number,
): void {
  if (cells === undefined || printer === undefined || vector === undefined) return;
  cells.makeRows(rowCount);
  printer(vector, start, rowCount, cells);
}

/** The rows of one result, sent as many at a time as are asked for. */
export class RowStream {
  readonly headers: readonly ColumnHeader[];
  private readonly batches: AsyncIterator<Batch>;
  private readonly columns: readonly { readonly cells: Cells; readonly printer: CellPrinter }[];
  private batch: Batch | undefined;
  /** Rows of the batch that were sent, and those that were printed. */
  private sent = 0;
  private pieceStart = 0;
  private pieceEnd = 0;
  private isDone = false;
  private isClosed = false;
  private isSending = false;

  /** @param printers one a column */
  constructor(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, printers: readonly CellPrinter[]) {
    this.headers = headers;
    this.batches = batches[Symbol.asyncIterator]();
    this.columns = printers.map((printer) => ({ cells: Cells.take(), printer }));
  }

  /**
   * Sends rows.
   *
   * @param rowsMax 0: all
   * @returns how many, and whether there may be more
   */
  async send(
    { outgoing, scheduler }: RowsContext,
    signal: AbortSignal,
    rowsMax: number,
    write: RowWriter,
  ): Promise<{ readonly rowCount: number; readonly hasMore: boolean }> {
    this.isSending = true;
    const pace = new Pace(scheduler);
    const cells = this.columns.map((column) => column.cells);
    let rowCount = 0;
    while (rowsMax === 0 || rowCount < rowsMax) {
      if (!(await this.hasRow())) return { rowCount, hasMore: false };
      throwIfCancelled(signal);
      const end = rowsMax === 0 ? this.pieceEnd : Math.min(this.pieceEnd, this.sent + rowsMax - rowCount);
      const from = this.sent - this.pieceStart;
      const next = write(cells, from, end - this.pieceStart, outgoing);
      rowCount += next - from;
      this.sent += next - from;
      if (outgoing.isFull) await outgoing.flush();
      if (pace.isDue()) await pace.turn();
    }
    return { rowCount, hasMore: true };
  }

  /** Ends it, before its end or after. */
  async close(): Promise<void> {
    this.batch = undefined;
    // A connection that is gone ends what is still being sent: its cells are no one else's then.
    if (!this.isClosed && !this.isSending) for (const { cells } of this.columns) cells.giveBack();
    this.isClosed = true;
    if (!this.isDone) await this.batches.return?.();
    this.isDone = true;
  }

  /** Whether a printed row is there; reads on and prints the next piece where there is none. */
  private async hasRow(): Promise<boolean> {
    while (this.batch === undefined || this.sent === this.batch.rowCount) {
      if (this.isDone) return false;
      const next = await this.batches.next();
      this.isDone = next.done === true;
      this.batch = next.done === true ? undefined : next.value;
      this.sent = 0;
      this.pieceEnd = 0;
    }
    if (this.sent === this.pieceEnd) this.print(this.batch);
    return true;
  }

  private print(batch: Batch): void {
    const rowCount = pieceRows(batch, this.sent);
    this.pieceStart = this.sent;
    this.pieceEnd = this.sent + rowCount;
    for (const [i, vector] of batch.vectors.entries()) {
      const column = this.columns[i];
      printPiece(column?.cells, column?.printer, vector, this.pieceStart, rowCount);
    }
  }
}
