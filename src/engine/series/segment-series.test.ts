import { expect, test } from "bun:test";
import { textTableOf } from "../../column/text-table.ts";
import type { SeriesDefinitions } from "../../storage/memtable/series-definitions.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { SegmentSeries, UNDEFINED } from "./segment-series.ts";

/** Definitions of series as [number, code…]; `texts` are new values by column as [code, text]. */
function definitionsOf(
  series: readonly (readonly number[])[],
  texts: readonly (readonly (readonly [number, string])[])[],
): SeriesDefinitions {
  const table = textTableOf([undefined, ...texts.flat().map(([, text]) => text)]);
  let at = 0;
  return {
    series: Uint32Array.from(series, ([number]) => number ?? 0),
    codes: texts.map((_, c) => Uint32Array.from(series, (row) => row[c + 1] ?? 0)),
    texts: texts.map((column) => {
      const from = at + 1;
      at += column.length;
      return {
        codes: Uint32Array.from(column, ([code]) => code),
        spans: Uint32Array.from({ length: 2 * column.length }, (_, i) => table.starts[from + ((i + 1) >> 1)]!),
      };
    }),
    bytes: table.bytes,
  };
}

function registryOf(...ids: readonly number[]): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns(ids.map((id) => ({ id, name: `tag${id}` })));
  registry.register(ids.map(() => "someone else"));
  return registry;
}

function tagsOf(registry: SeriesRegistry, series: number): (string | undefined)[] {
  return Array.from({ length: registry.columnCount }, (_, c) => registry.textAt(c, registry.codesAt(c)[series]!));
}

test("many series of one record, some of whose values nobody has defined, keep apart", () => {
  const registry = registryOf(1, 2);
  const known = new SegmentSeries();
  const rows = Array.from({ length: 1000 }, (_, i) => [i + 5, i + 1, i % 7 === 0 ? 99 : 1 + (i % 3)]);
  const hosts = Array.from({ length: 1000 }, (_, i) => [i + 1, `host_${i}`] as const);
  const racks = [1, 2, 3].map((code) => [code, `rack_${code}`] as const);
  known.define(definitionsOf(rows, [hosts, racks]), [1, 2], registry, false);
  for (let i = 0; i < 1000; i++) {
    const series = known.series[i + 5] ?? UNDEFINED;
    if (i % 7 === 0) expect(series).toBe(UNDEFINED);
    else expect(tagsOf(registry, series)).toEqual([`host_${i}`, `rack_${1 + (i % 3)}`]);
  }
});

test("numbers and codes of the log become those of this process, values once defined by later records too", () => {
  const registry = registryOf(1, 2);
  const known = new SegmentSeries();
  known.define(definitionsOf([[70, 9, 4]], [[[9, "a"]], [[4, "x"]]]), [1, 2], registry, false);
  known.define(
    definitionsOf(
      [
        [5, 9, 0],
        [6, 30, 4],
      ],
      [[[30, "b"]], []],
    ),
    [1, 2],
    registry,
    false,
  );
  expect([70, 5, 6].map((logged) => tagsOf(registry, known.series[logged]!))).toEqual([
    ["a", "x"],
    ["a", undefined],
    ["b", "x"],
  ]);
});

test("a series with a value that nobody has defined stays undefined", () => {
  const known = new SegmentSeries();
  known.define(
    definitionsOf(
      [
        [1, 9],
        [2, 0],
      ],
      [[]],
    ),
    [1],
    registryOf(1),
    false,
  );
  expect([known.series[1], known.series[2]]).toEqual([UNDEFINED, 1]);
});

test("codes of an old record mean nothing beyond it", () => {
  const registry = registryOf(1);
  const known = new SegmentSeries();
  known.define(definitionsOf([[1, 1]], [[[1, "a"]]]), [1], registry, true);
  known.define(definitionsOf([[2, 1]], [[[1, "b"]]]), [1], registry, true);
  expect([1, 2].map((logged) => tagsOf(registry, known.series[logged]!))).toEqual([["a"], ["b"]]);
});

test("a tag column that the table no longer has is left out", () => {
  const registry = registryOf(2);
  const known = new SegmentSeries();
  known.define(definitionsOf([[1, 1, 1]], [[[1, "gone"]], [[1, "kept"]]]), [1, 2], registry, false);
  expect(tagsOf(registry, known.series[1]!)).toEqual(["kept"]);
});
