/**
 * Results of statements as packets: what columns there are, and rows straight from their vectors into the outgoing buffer, piece by
 * piece, with turns for others and waits for slow clients in between.
 */
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { type CellPrinter, Cells, pieceRows } from "../wire/cells/cells.ts";
import { ANSWER_BYTES } from "../wire/limits.ts";
import type { CannedRows } from "./canned-answers.ts";
import { binaryPrinter, hasLength } from "./cells/binary-cells.ts";
import { type RowColumn, writeRows } from "./cells/kernels/rows.ts";
import { textPrinter } from "./cells/text-cells.ts";
import type { PacketWriter } from "./codec.ts";
import type { Talk } from "./talk.ts";
import { wireTypeOf } from "./types.ts";

/** Writes a column definition. */
export function describeColumn(packets: PacketWriter, { name, type }: ColumnHeader): void {
  const { type: number, flags, charset, length, decimals } = wireTypeOf(type);
  const place = packets.begin();
  packets.lenencText("def");
  for (let i = 0; i < 3; i++) packets.lenencText(""); // database, table, and the table's own name
  packets.lenencText(name);
  packets.lenencText(name);
  packets.outgoing.u8(0x0c); // bytes of what follows
  packets.u16(charset);
  packets.u32(length);
  packets.outgoing.u8(number);
  packets.u16(flags);
  packets.outgoing.u8(decimals);
  packets.u16(0);
  packets.end(place);
}

/** Rows of a statement, as its result has them. */
export type RowsResult = Extract<StatementResult, { kind: "rows" }>;

/** How a result is sent. */
export interface ResultForm {
  readonly isBinary: boolean;
  /** Whether another result follows. */
  readonly hasMore: boolean;
  readonly signal: AbortSignal;
}

/** Sends one result with what ends it. */
export async function sendResult(talk: Talk, result: StatementResult, form: ResultForm): Promise<void> {
  if (result.kind === "affected") {
    talk.ok({ rowCount: result.rowCount, hasMore: form.hasMore });
    return;
  }
  if (result.headers.length === 0) {
    for await (const _ of result.batches); // What has no columns has no rows to show.
    talk.ok({ rowCount: 0, hasMore: form.hasMore });
    return;
  }
  const { packets } = talk;
  const place = packets.begin();
  packets.lenenc(result.headers.length);
  packets.end(place);
  for (const header of result.headers) describeColumn(packets, header);
  talk.endDefinitions();
  await sendRows(talk, result, form);
  talk.endRows(form.hasMore);
}

async function sendRows(talk: Talk, { headers, batches }: RowsResult, { isBinary, signal }: ResultForm): Promise<void> {
  const { timeZone } = talk.session;
  const columns = headers.map(({ type }): RowColumn & { readonly printer: CellPrinter } => ({
    cells: new Cells(),
    hasLength: !isBinary || hasLength(type),
    printer: isBinary ? binaryPrinter(type, timeZone) : textPrinter(type, timeZone),
  }));
  const { outgoing } = talk.packets;
  const scheduler: Scheduler = talk.parts.scheduler;
  const pace = new Pace(scheduler);
  for await (const batch of batches) {
    for (let at = 0; at < batch.rowCount; ) {
      const rowCount = pieceRows(batch, at);
      for (const [i, { cells, printer }] of columns.entries()) {
        const vector = batch.vectors[i];
        cells.makeRows(rowCount);
        if (vector !== undefined) printer(vector, at, rowCount, cells);
      }
      for (let row = 0; row < rowCount; ) {
        throwIfCancelled(signal);
        row = writeRows(columns, isBinary, row, rowCount, talk.packets, ANSWER_BYTES / 2);
        if (outgoing.isFull) await outgoing.flush();
        if (pace.isDue()) await pace.turn();
      }
      at += rowCount;
    }
  }
}

/** Rows that were made at once, as a result. */
export function resultOf({ headers, rows }: CannedRows): RowsResult {
  const vectors = headers.map(({ type }, i) =>
    vectorOf(
      type,
      rows.map((row) => row[i]),
    ),
  );
  return { kind: "rows", headers, batches: once({ rowCount: rows.length, vectors }) };
}

async function* once(batch: Batch): AsyncGenerator<Batch> {
  yield batch;
}
