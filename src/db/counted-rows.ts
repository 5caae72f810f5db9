/** Rows and bytes that statements bring, counted for the protocol of their session (ingest-counts.ts). */
import type { ParameterValue } from "../query/prepared-query.ts";
import type { Statement } from "../query/sql/syntax/statement-ast.ts";
import type { RowIntake } from "../table/rows/row-intake.ts";
import type { WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import { countedWrite, type IngestCounts } from "./ingest-counts.ts";

/** Bytes of a number, a time, an interval as a parameter. */
const NUMBER_BYTES = 8;

/** A writer whose rows are counted. */
export class CountedWriter implements Writer {
  private readonly writer: Writer;
  private readonly counts: IngestCounts;

  constructor(writer: Writer, counts: IngestCounts) {
    this.writer = writer;
    this.counts = counts;
  }

  write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult> {
    return countedWrite(this.counts, this.writer.write(database, batch, options));
  }

  /** Not counted here: the result of DELETE is. */
  delete(database: string, batch: WriteBatch): Promise<WriteResult> {
    return this.writer.delete(database, batch);
  }
}

/** Whether a statement puts rows into a table: its failure is one of writing. */
export function bringsRows(statement: Statement): boolean {
  return statement.kind === "insert" || (statement.kind === "copy" && statement.direction === "from");
}

/** Counts the text of statements some of which insert rows: 0.1 ns a character of plain ASCII. */
export function countText(counts: IngestCounts | undefined, statements: readonly Statement[], text: string): void {
  if (counts !== undefined && statements.some(({ kind }) => kind === "insert")) counts.took(Buffer.byteLength(text));
}

/** Counts values of a prepared INSERT: texts and bytes by their length, all others 8 bytes. */
export function countValues(counts: IngestCounts | undefined, statement: Statement, values: readonly ParameterValue[]): void {
  if (counts === undefined || statement.kind !== "insert") return;
  let bytes = 0;
  for (const { value } of values) {
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    else if (value !== undefined) bytes += NUMBER_BYTES;
  }
  counts.took(bytes);
}

/** An intake that tells once, at its close, whether all of its rows were taken, and gives back more. */
export function countedIntake(intake: RowIntake, counts: IngestCounts | undefined, close: () => Promise<void>): RowIntake {
  let isOpen = true;
  let isWhole = false;
  return {
    columns: intake.columns,
    add: (vectors, types, rowCount) => intake.add(vectors, types, rowCount),
    finish: async () => {
      const rows = await intake.finish();
      isWhole = true;
      return rows;
    },
    get writtenRows() {
      return intake.writtenRows;
    },
    async close() {
      if (isOpen && !isWhole) counts?.failed();
      isOpen = false;
      await intake.close();
      await close();
    },
  };
}
