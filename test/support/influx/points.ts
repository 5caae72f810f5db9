/**
 * Decoded batches as plain points, for comparing in tests.
 */
import { scalarAt } from "../../../src/column/scalar.ts";
import type { WriteBatch } from "../../../src/table/write-batch.ts";

/** One row: field values as text, with their column type's kind in front. */
export interface Point {
  readonly table: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
}

/** All rows of a batch, table write by table write. */
export function pointsOf(batch: WriteBatch): Point[] {
  const points: Point[] = [];
  for (const write of batch.tables) {
    for (let row = 0; row < write.rowCount; row++) {
      const { table, names, values } = batch.dictionary.tagsOf(write.keys[row] ?? -1);
      if (table !== write.table) throw new Error(`row of ${table} in a write of ${write.table}`);
      const fields: Record<string, string> = {};
      for (const field of write.fields) {
        const value = scalarAt(field.vector, field.type, row);
        if (value !== undefined)
          fields[field.name] = textOf(field.type.kind === "int" && !field.type.signed ? "uint" : field.type.kind, value);
      }
      const tags = Object.fromEntries(names.map((name, i) => [name, values[i] ?? ""] as const));
      points.push({
        table,
        tags: sorted(tags),
        fields: sorted(fields),
        time: write.times.base + BigInt(write.times.offsets[row] ?? Number.NaN),
      });
    }
  }
  return points;
}

/** A value with the kind of its type: "int:5", "float:-0", "string:a". */
export function textOf(kind: string, value: unknown): string {
  return `${kind}:${Object.is(value, -0) ? "-0" : String(value)}`;
}

/** The same record with its keys in order. */
export function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  const result: Record<string, T> = Object.create(null) as Record<string, T>;
  for (const key of Object.keys(record).sort()) Object.defineProperty(result, key, { value: record[key], enumerable: true });
  return result;
}

/** A point as one line of text. */
export function lineOf(point: Point): string {
  return JSON.stringify([point.table, Object.entries(point.tags), Object.entries(point.fields), String(point.time)]);
}
