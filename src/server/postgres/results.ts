/**
 * Results of statements as messages: what columns there are, and rows straight from their vectors into the outgoing buffer, piece by
 * piece, with turns for others and waits for slow clients in between.
 */
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type CellPrinter, Cells, pieceRows } from "../wire/cells/cells.ts";
import { ANSWER_BYTES } from "../wire/limits.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import { binaryPrinter } from "./cells/binary-cells.ts";
import { writeRows } from "./cells/kernels/data-rows.ts";
import { textPrinter } from "./cells/text-cells.ts";
import type { TextStyle } from "./cells/value-text.ts";
import { beginMessage, endMessage, tell } from "./codec.ts";
import { Tell } from "./packets.ts";
import { modifierOf, oidOf, sizeOf } from "./types.ts";

/** How a column's values are sent. */
export const Format = { Text: 0, Binary: 1 } as const;
/** One of `Format`. */
export type Format = (typeof Format)[keyof typeof Format];

/** The format of column `i`: none given is text, one is for all. */
function formatOf(formats: readonly Format[], i: number): Format {
  return formats.length === 1 ? (formats[0] ?? Format.Text) : (formats[i] ?? Format.Text);
}

/** Tells of columns, or that there are none. @throws DbError Unsupported for a type that the protocol has no number for */
export function describeRows(outgoing: Outgoing, headers: readonly ColumnHeader[] | undefined, formats: readonly Format[]): void {
  if (headers === undefined) {
    tell(outgoing, Tell.NoData);
    return;
  }
  const numbers = headers.map(({ type }) => oidOf(type)); // Before anything is written: it may throw.
  const place = beginMessage(outgoing, Tell.RowDescription);
  outgoing.u16be(headers.length);
  for (const [i, { name, type }] of headers.entries()) {
    const oid = numbers[i] ?? 0;
    outgoing.textZero(name);
    outgoing.i32be(0); // no table
    outgoing.u16be(0);
    outgoing.i32be(oid);
    outgoing.u16be(sizeOf(oid) & 0xffff);
    outgoing.i32be(modifierOf(type));
    outgoing.u16be(formatOf(formats, i));
  }
  endMessage(outgoing, place);
}

/** Appends rows `[from, to)` of a piece, as many as make about `bytesMax` bytes, one at least; returns where to go on. */
export type RowWriter = (
  columns: readonly Cells[],
  from: number,
  to: number,
  outgoing: Outgoing,
  letter: number,
  bytesMax: number,
) => number;

/** Where rows go, and beside what. */
export interface RowsContext {
  readonly outgoing: Outgoing;
  readonly scheduler: Scheduler;
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

  constructor(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, formats: readonly Format[], style: TextStyle) {
    this.headers = headers;
    this.batches = batches[Symbol.asyncIterator]();
    this.columns = headers.map(({ type }, i) => ({
      cells: new Cells(),
      printer: formatOf(formats, i) === Format.Binary ? binaryPrinter(type, style) : textPrinter(type, style),
    }));
  }

  /**
   * Sends rows.
   *
   * @param rowsMax 0: all
   * @param letter of a row's message
   * @returns how many, and whether there may be more
   */
  async send(
    { outgoing, scheduler }: RowsContext,
    signal: AbortSignal,
    rowsMax: number,
    letter: number = Tell.DataRow,
    write: RowWriter = writeRows,
  ): Promise<{ readonly rowCount: number; readonly hasMore: boolean }> {
    const pace = new Pace(scheduler);
    const cells = this.columns.map((column) => column.cells);
    let rowCount = 0;
    while (rowsMax === 0 || rowCount < rowsMax) {
      if (!(await this.hasRow())) return { rowCount, hasMore: false };
      throwIfCancelled(signal);
      const end = rowsMax === 0 ? this.pieceEnd : Math.min(this.pieceEnd, this.sent + rowsMax - rowCount);
      const from = this.sent - this.pieceStart;
      const next = write(cells, from, end - this.pieceStart, outgoing, letter, ANSWER_BYTES / 2);
      rowCount += next - from;
      this.sent += next - from;
      if (outgoing.isFull) await outgoing.flush();
      if (pace.isDue()) await pace.turn();
    }
    return { rowCount, hasMore: true };
  }

  /** Ends it before its end. */
  async close(): Promise<void> {
    this.batch = undefined;
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
      column?.cells.makeRows(rowCount);
      column?.printer(vector, this.pieceStart, rowCount, column.cells);
    }
  }
}
