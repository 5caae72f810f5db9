import { describe, expect, test } from "bun:test";
import { type DataType, INT64, type NestedType, STRING } from "../../../column/data-type.ts";
import { encodeNested } from "../../../column/nested.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { cutEntries } from "./entry-pages.ts";
import { Shredder } from "./shredder.ts";

const list = (element: DataType): NestedType => ({ kind: "list", element });

/** Leaves by their paths: values, definition and repetition levels. */
function check(type: NestedType, rows: readonly (Uint8Array | undefined)[], want: Readonly<Record<string, readonly unknown[]>>): void {
  const shredder = new Shredder("c", type, 0);
  for (const row of rows) shredder.add(row);
  const got = shredder.take().map(({ input, levels, entryCount }, i): [string, readonly unknown[]] => {
    const column = shredder.columns[i];
    const valueAt = (entry: number): Scalar => scalarAt(input as Vector, column?.type ?? STRING, entry);
    const values = Array.from({ length: entryCount }, (_, entry) => valueAt(entry));
    return [column?.name ?? "", [values, [...levels.definition], levels.repetition && [...levels.repetition]]];
  });
  expect(Object.fromEntries(got)).toEqual(want);
}

describe("levels", () => {
  test("of a list", () => {
    const type = list(INT64);
    check(type, [encodeNested(type, [1, 2]), encodeNested(type, [undefined]), encodeNested(type, []), undefined], {
      "c.list.element": [
        [1, 2, undefined, undefined, undefined],
        [3, 3, 2, 1, 0],
        [0, 1, 0, 0, 0],
      ],
    });
  });

  test("of a list of lists", () => {
    const inner = list(STRING);
    const type = list(inner);
    const value = encodeNested(type, [encodeNested(inner, ["a", "b"]), encodeNested(inner, []), undefined, encodeNested(inner, ["c"])]);
    check(type, [value, encodeNested(type, [])], {
      "c.list.element.list.element": [
        ["a", "b", undefined, undefined, "c", undefined],
        [5, 5, 3, 2, 5, 1],
        [0, 2, 1, 1, 1, 0],
      ],
    });
  });

  test("of a struct beside a map", () => {
    const map: NestedType = { kind: "map", key: STRING, value: INT64 };
    const type: NestedType = {
      kind: "struct",
      fields: [
        { name: "n", type: INT64 },
        { name: "m", type: map },
      ],
    };
    check(
      type,
      [encodeNested(type, [7, encodeNested(map, ["k", 1, "l", undefined])]), encodeNested(type, [undefined, undefined]), undefined],
      {
        "c.n": [[7, undefined, undefined], [2, 1, 0], undefined],
        "c.m.key_value.key": [
          ["k", "l", undefined, undefined],
          [3, 3, 1, 0],
          [0, 1, 0, 0],
        ],
        "c.m.key_value.value": [
          [1, undefined, undefined, undefined],
          [4, 3, 1, 0],
          [0, 1, 0, 0],
        ],
      },
    );
  });
});

describe("refused", () => {
  function rejects(type: DataType, row: Uint8Array | undefined, why: string): void {
    expect(() => new Shredder("c", type, 0).add(row)).toThrow(`cannot write column ${why}`);
  }

  test("structs without fields, or with two of one name", () => {
    rejects({ kind: "struct", fields: [] }, undefined, "c as Parquet: it has no fields");
    const twice: DataType = {
      kind: "struct",
      fields: [
        { name: "a", type: INT64 },
        { name: "a", type: INT64 },
      ],
    };
    rejects(list(twice), undefined, "c.list.element as Parquet: two of its fields are called a");
  });

  test("a key that is NULL", () => {
    const type: NestedType = { kind: "map", key: STRING, value: INT64 };
    rejects(type, encodeNested(type, [undefined, 1]), "c as Parquet: a map has NULL as a key");
  });

  test("types that are too deep for a level of a byte", () => {
    let type: DataType = INT64;
    for (let i = 0; i < 130; i++) type = list(type);
    rejects(type, undefined, "c.list.element");
  });
});

test("pages end between rows, and a row that is larger than a page is one", () => {
  const type = list(INT64);
  const shredder = new Shredder("c", type, 0);
  for (const length of [10_000, 10_000, 50_000, 1])
    shredder.add(
      encodeNested(
        type,
        Array.from({ length }, (_, i) => i),
      ),
    );
  const [rows] = shredder.take();
  expect(rows && [...cutEntries(rows)]).toEqual([10_000, 20_000, 70_000, 70_001]);
});
