/** Rows → the bytes of a CSV or JSON file, in pieces of about `WRITE_BYTES`. */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Vector } from "../../column/vector.ts";
import { fieldWriter } from "../../format/csv/csv-writer.ts";
import { floatText } from "../../value/number-text.ts";
import { shortestFloat32 } from "../../value/float32.ts";
import { cellReader } from "./cell-text.ts";
import type { Bytes } from "./compression.ts";
import type { CopyOptions, TimePatterns } from "./copy-options.ts";
import { WRITE_BYTES } from "./limits.ts";

/** The text of a row, its line end included. */
type RowText = (batch: Batch, row: number) => string;

/** CSV. Times of the options' patterns. */
export function encodeCsv(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, options: CopyOptions): Bytes {
  const field = fieldWriter(options.delimiter);
  const readers = headers.map(({ type }) => cellReader(type, options.patterns));
  const head = options.hasHeader ? `${headers.map(({ name }) => field(name)).join(options.delimiter)}\n` : "";
  return pieces(head, batches, (batch, row) => {
    let text = "";
    for (let c = 0; c < readers.length; c++) {
      const vector = batch.vectors[c];
      if (c > 0) text += options.delimiter;
      text += field(vector === undefined ? undefined : readers[c]?.(vector, row));
    }
    return `${text}\n`;
  });
}

/** One object a line; NULL is left out. */
export function encodeJson(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, options: CopyOptions): Bytes {
  const members = headers.map((header) => {
    const name = `${JSON.stringify(header.name)}:`;
    const value = jsonReader(header, options.patterns);
    return (vector: Vector, row: number): string | undefined => {
      const text = value(vector, row);
      return text === undefined ? undefined : name + text;
    };
  });
  return pieces("", batches, (batch, row) => {
    let text = "";
    for (let c = 0; c < members.length; c++) {
      const vector = batch.vectors[c];
      const member = vector === undefined ? undefined : members[c]?.(vector, row);
      if (member !== undefined) text += text === "" ? member : `,${member}`;
    }
    return `{${text}}\n`;
  });
}

function jsonReader({ type }: ColumnHeader, patterns: TimePatterns): (vector: Vector, row: number) => string | undefined {
  switch (type.kind) {
    case "boolean":
    case "int":
    case "duration":
      return (vector, row) => {
        const value = scalarAt(vector, type, row);
        return value === undefined ? undefined : String(value);
      };
    case "float":
      return (vector, row) => {
        const value = scalarAt(vector, type, row);
        if (value === undefined) return undefined;
        const number = type.bits === 32 ? shortestFloat32(Number(value)) : Number(value);
        // JSON has no NaN and no infinity; as text they are read again.
        return Number.isFinite(number) ? floatText(number) : `"${floatText(number)}"`;
      };
    case "list":
    case "struct":
    case "map":
      return cellReader(type, patterns); // which is JSON
    default: {
      const read = cellReader(type, patterns);
      return (vector, row) => {
        const text = read(vector, row);
        return text === undefined ? undefined : JSON.stringify(text);
      };
    }
  }
}

async function* pieces(head: string, batches: AsyncIterable<Batch>, rowText: RowText): Bytes {
  const encoder = new TextEncoder();
  let text = head;
  for await (const batch of batches) {
    for (let row = 0; row < batch.rowCount; row++) {
      text += rowText(batch, row);
      if (text.length < WRITE_BYTES) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  if (text !== "") yield encoder.encode(text);
}
