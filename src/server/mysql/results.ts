/** Results of statements as packets: what columns there are, and rows (`wire/cells/row-stream.ts`). */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { CellPrinter } from "../wire/cells/cells.ts";
import { RowStream, type RowWriter } from "../wire/cells/row-stream.ts";
import { ANSWER_BYTES } from "../wire/limits.ts";
import type { CannedRows } from "./canned-answers.ts";
import { binaryPrinter, hasLength } from "./cells/binary-cells.ts";
import { writeRows } from "./cells/kernels/rows.ts";
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
  const { packets, parts } = talk;
  const { headers, batches } = result;
  const { isBinary, hasMore, signal } = form;
  if (headers.length === 0) {
    for await (const _ of batches); // What has no columns has no rows to show.
    talk.ok({ rowCount: 0, hasMore });
    return;
  }
  describeColumns(packets, headers);
  talk.endDefinitions();
  const rows = openRows(talk, result, isBinary);
  try {
    await rows.stream.send({ outgoing: packets.outgoing, scheduler: parts.scheduler }, signal, 0, rows.write);
  } finally {
    await rows.stream.close();
  }
  talk.endRows(hasMore);
}

/** How many columns there are, and what they are. */
export function describeColumns(packets: PacketWriter, headers: readonly ColumnHeader[]): void {
  const place = packets.begin();
  packets.lenenc(headers.length);
  packets.end(place);
  for (const header of headers) describeColumn(packets, header);
}

/** What writes the cells of a result's columns, and which of them begin with their length. */
export interface ColumnPrinters {
  readonly printers: readonly CellPrinter[];
  readonly haveLength: readonly boolean[];
}

/** What writes columns. */
export function printersOf(headers: readonly ColumnHeader[], isBinary: boolean, timeZone: string): ColumnPrinters {
  return {
    printers: headers.map(({ type }) => (isBinary ? binaryPrinter(type, timeZone) : textPrinter(type, timeZone))),
    haveLength: headers.map(({ type }) => !isBinary || hasLength(type)),
  };
}

/** Rows to be sent, and what writes them. */
export interface OpenRows {
  readonly stream: RowStream;
  readonly write: RowWriter;
}

/** The rows of a result. Whoever opens them closes their stream. */
export function openRows({ packets, session: { timeZone } }: Talk, { headers, batches }: RowsResult, isBinary: boolean): OpenRows {
  const { printers, haveLength } = printersOf(headers, isBinary, timeZone);
  return {
    stream: new RowStream(headers, batches, printers),
    write: (columns, from, to) => writeRows(columns, haveLength, isBinary, from, to, packets, ANSWER_BYTES / 2),
  };
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
