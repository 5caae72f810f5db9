/**
 * A batch as plain rows, for tests of decoders.
 */
import { textAt } from "../../src/column/text-table.ts";
import type { Vector } from "../../src/column/vector.ts";
import type { WriteBatch } from "../../src/table/write-batch.ts";

/** One row. `time` in the unit of its write. Fields that are NULL are left out. */
export interface PlainRow {
  readonly table: string;
  readonly time: bigint;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** All rows of a batch, write by write. Text is checked to be UTF-8. */
export function rowsOf(batch: WriteBatch): PlainRow[] {
  const rows: PlainRow[] = [];
  for (const { table, rowCount, keys, times, fields } of batch.tables) {
    for (let row = 0; row < rowCount; row++) {
      const { names, values } = batch.dictionary.tagsOf(keys[row] as number);
      const pairs = fields.map(({ name, vector }) => [name, cell(vector, row)] as const).filter(([, value]) => value !== undefined);
      rows.push({
        table,
        time: times.base + BigInt(times.offsets[row] as number),
        tags: Object.fromEntries(names.map((name, i) => [name, values[i] as string])),
        fields: Object.fromEntries(pairs),
      });
    }
  }
  return rows;
}

function cell(vector: Vector, row: number): unknown {
  if (vector.kind === "dictionary") return vector.dictionary[vector.codes[row] as number];
  if (vector.kind === "coded") return textAt(vector.entries, vector.codes[row] as number);
  if (vector.validity !== undefined && vector.validity[row] === 0) return undefined;
  switch (vector.kind) {
    case "number":
    case "wide":
      return vector.values[row];
    case "time":
      return vector.base + BigInt(vector.offsets[row] as number);
    case "bytes":
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]),
      );
  }
}
