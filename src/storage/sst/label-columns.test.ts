import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tableId } from "../../base/units.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND, UINT32 } from "../../column/data-type.ts";
import { textAt, textTableOf } from "../../column/text-table.ts";
import type { TagRuns } from "../../format/parquet/types.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { encodeLabels, LABELS_COLUMN_ID } from "../series/label-set.ts";
import { TABLE_ID_COLUMN_ID } from "../../table/metric.ts";
import { fileSchemaOf, isLabelColumn, labelIdsOf, labelInputs, noLabel } from "./label-columns.ts";

const column = (id: number, name: string, type: ColumnSchema["type"], semantic: ColumnSchema["semantic"]): ColumnSchema => ({
  id: id,
  name,
  type,
  semantic,
  nullable: semantic !== "timestamp",
});

const schema: TableSchema = {
  id: tableId(1),
  database: "public",
  name: "phy",
  version: 1,
  engine: "metric",
  options: {},
  primaryKey: ["__table_id", "__labels"],
  columns: [
    column(1, "ts", TIMESTAMP_MILLISECOND, "timestamp"),
    column(2, "val", FLOAT64, "field"),
    column(TABLE_ID_COLUMN_ID, "__table_id", UINT32, "tag"),
    column(LABELS_COLUMN_ID, "__labels", STRING, "tag"),
    column(5, "host", STRING, "tag"),
    column(6, "job", STRING, "tag"),
  ],
};

/** Value of each row. */
function rowsOf({ ends, codes, texts }: TagRuns): (string | undefined)[] {
  const rows: (string | undefined)[] = [];
  for (let run = 0; run < ends.length; run++) while (rows.length < ends[run]!) rows.push(textAt(texts, codes[run]!));
  return rows;
}

describe("label columns", () => {
  test("are runs of equal values over neighbouring series, NULL where a series has no such label", () => {
    const texts = [undefined, encodeLabels([5], ["a"]), encodeLabels([5, 6], ["a", "x"]), encodeLabels([6], ["x"])];
    const inputs = labelInputs(textTableOf(texts), Uint32Array.of(1, 2, 3, 0, 3), Uint32Array.of(2, 3, 7, 9, 10));
    expect([...inputs.keys()]).toEqual([5, 6]);
    expect([...inputs.get(5)!.ends]).toEqual([3, 10]);
    expect([...inputs.get(5)!.codes]).toEqual([1, 0]);
    expect([...inputs.get(6)!.ends]).toEqual([2, 7, 9, 10]);
    const { texts: values } = inputs.get(6)!;
    expect([values.size, textAt(values, 1)]).toEqual([2, "x"]);
  });

  test("say row by row what the label sets say", () => {
    const set = fc.record({ 5: fc.constantFrom("", "a", "b"), 6: fc.constantFrom("", "a"), 9: fc.constantFrom("", "", "", "z") });
    fc.assert(
      fc.property(fc.array(fc.tuple(set, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 30 }), (series) => {
        const texts: (string | undefined)[] = [undefined];
        const codes = series.map(([labels]) => {
          const present = Object.entries(labels).filter(([, value]) => value !== "");
          const text = encodeLabels(
            present.map(([id]) => Number(id)),
            present.map(([, value]) => value),
          );
          if (!texts.includes(text)) texts.push(text);
          return texts.indexOf(text);
        });
        let rows = 0;
        const ends = Uint32Array.from(series, ([, count]) => (rows += count));
        const inputs = labelInputs(textTableOf(texts), Uint32Array.from(codes), ends);
        for (const id of [5, 6, 9] as const) {
          const want = series.flatMap(([labels, count]) => Array.from({ length: count }, () => labels[id] || undefined));
          expect(rowsOf(inputs.get(id) ?? noLabel(rows))).toEqual(want);
          expect(inputs.has(id)).toBe(want.some((value) => value !== undefined));
        }
      }),
      { seed: 12, numRuns: 200 },
    );
  });

  test("are in a file only if a row has them, and label sets never are", () => {
    const names = (ids: Iterable<number>): string[] => fileSchemaOf(schema, new Set(ids)).columns.map(({ name }) => name);
    expect(names(labelIdsOf(textTableOf([undefined, encodeLabels([6], ["x"])])))).toEqual(["ts", "val", "__table_id", "job"]);
    expect(names([])).toEqual(["ts", "val", "__table_id"]);
    const plain: TableSchema = { ...schema, columns: schema.columns.slice(0, 2), primaryKey: [] };
    expect(fileSchemaOf(plain, new Set())).toBe(plain);
  });

  test("are the tags outside the key", () => {
    expect(schema.columns.filter((one) => isLabelColumn(schema, one)).map(({ name }) => name)).toEqual(["host", "job"]);
  });
});
