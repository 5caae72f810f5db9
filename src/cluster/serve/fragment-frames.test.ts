import { expect, test } from "bun:test";
import fc from "fast-check";
import { codedOf } from "../../../test/support/coded-text.ts";
import { MemoryBudget } from "../../base/memory/memory-budget.ts";
import { BINARY, type DataType, FLOAT64, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ExecBatch } from "../../query/operator/contract/exec-context.ts";
import type { PlainBatch } from "../../query/operator/contract/query-workers.ts";
import { BatchUnpacker } from "../../query/operator/parallel/plain-batch.ts";
import { encodeRows } from "../../query/operator/parallel/row-bytes.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { SeriesView } from "../../table/series-view.ts";
import { FragmentReader } from "../wire/answer-reader.ts";
import { FRAME } from "../wire/frames.ts";
import { encodeSeries } from "../wire/series-frame.ts";
import { FragmentFrames } from "./fragment-frames.ts";
import { StreamSeries } from "./stream-series.ts";

const TYPES: readonly DataType[] = [TIMESTAMP_MILLISECOND, FLOAT64, INT64, STRING, STRING, STRING, BINARY];
const TEXTS = [undefined, "a", "bb", "ccc", "ü", "a much longer text that is no tag", ""];

/** Two tags, of which series `s` has `s % 7` and `s % 3`; the latter 0 is NULL. */
const VIEW: SeriesView = {
  count: 100,
  codesOf: (column) => Uint32Array.from({ length: 100 }, (_, s) => (column === "host" ? (s % 7) + 1 : s % 3)),
  tagOf: (column, s) => (column === "host" ? `host ${s % 7}` : s % 3 === 0 ? undefined : `rack ${s % 3}`),
  hasValue: () => false,
  dictionaryOf: () => [],
};
const TABLE = { schema: { primaryKey: ["host", "rack"], engine: "mito", options: {} } } as unknown as ScannedTable;

const tagsOf = (s: number): string => JSON.stringify([VIEW.tagOf("host", s) ?? null, VIEW.tagOf("rack", s) ?? null]);

interface Drawn {
  readonly codes: readonly number[];
  readonly runs: readonly number[];
  readonly grows: number;
}

/** Batches of one stream: their dictionary grows, entries of coded text are shared by some. */
function batchesOf(drawn: readonly Drawn[]): readonly ExecBatch[] {
  const dictionary: (string | undefined)[] = [undefined, "first"];
  const shared = codedOf(TEXTS.map((text) => text));
  return drawn.map(({ codes, runs, grows }, at) => {
    for (let i = 0; i < grows; i++) dictionary.push(`text ${dictionary.length}`);
    const rowCount = codes.length;
    const texts = codes.map((code) => TEXTS[code % TEXTS.length]);
    const times = { kind: "time" as const, base: BigInt(at) * 1000n, offsets: Float64Array.from(codes), validity: undefined };
    const wide = vectorOf(
      INT64,
      codes.map((code) => (code % 4 === 0 ? undefined : 2n ** 60n + BigInt(code))),
    );
    const own = codedOf(texts);
    const coded: Vector =
      at % 2 === 0 ? own : { ...shared, codes: Uint32Array.from(codes, (code) => (shared.codes[code % TEXTS.length] as number) ?? 0) };
    const vectors: readonly Vector[] = [
      times,
      vectorOf(
        FLOAT64,
        codes.map((code) => (code % 5 === 0 ? undefined : code / 4)),
      ),
      wide,
      { kind: "dictionary", codes: Uint32Array.from(codes, (code) => code % dictionary.length), dictionary },
      coded,
      vectorOf(STRING, texts),
      vectorOf(
        BINARY,
        codes.map((code) => new Uint8Array(code % 9).fill(code)),
      ),
    ];
    const starts = [0, ...runs.map((run) => run % Math.max(1, rowCount)).filter((start) => start > 0)].sort((a, b) => a - b);
    const distinct = [...new Set(starts), rowCount];
    const series = Uint32Array.from({ length: distinct.length - 1 }, (_, i) => ((codes[distinct[i] as number] ?? 0) * 13) % VIEW.count);
    return { rowCount, vectors, runs: { starts: Uint32Array.from(distinct), series } };
  });
}

function rowsOf({ rowCount, vectors, runs }: ExecBatch, tags: (series: number) => string): readonly string[] {
  let run = 0;
  return Array.from({ length: rowCount }, (_, row) => {
    while (runs !== undefined && (runs.starts[run + 1] as number) <= row) run++;
    const cells = TYPES.map((type, i) => {
      const value = scalarAt(vectors[i] as Vector, type, row);
      return value instanceof Uint8Array ? value.toHex() : String(value);
    });
    return `${tags(runs?.series[run] ?? -1)} ${cells.join(" ")}`;
  });
}

/** What a reader makes of the frames of some batches. */
function travelled(batches: readonly ExecBatch[]): { readonly rows: readonly string[]; readonly defined: number; readonly frames: number } {
  const budget = new MemoryBudget();
  const series = new StreamSeries(TABLE, VIEW, budget);
  const frames = new FragmentFrames(series);
  const reader = new FragmentReader(TYPES);
  const unpacker = new BatchUnpacker();
  const tags: string[] = [];
  const rows: string[] = [];
  let count = 0;
  for (const batch of batches) {
    for (const frame of frames.of(batch)) {
      count++;
      const piece = reader.read(frame);
      if (piece.kind === "series") {
        const { count: more, tags: values } = piece.series;
        for (let i = 0; i < more; i++) tags.push(JSON.stringify(values.map((column) => column[i] ?? null)));
      } else if (piece.kind === "rows") rows.push(...rowsOf(unpacker.unpack(piece.batch), (s) => tags[s] ?? "none"));
      else throw new Error(`a piece of kind ${piece.kind}`);
    }
  }
  series.close();
  expect(budget.used).toBe(0);
  return { rows, defined: tags.length, frames: count };
}

const someBatches = fc.array(
  fc.record({
    codes: fc.array(fc.nat(60), { minLength: 1, maxLength: 40 }),
    runs: fc.array(fc.nat(40), { maxLength: 6 }),
    grows: fc.nat(3),
  }),
  { maxLength: 6 },
);

test("rows of all kinds and their series come back, batch after batch", () => {
  fc.assert(
    fc.property(someBatches, (drawn) => {
      const batches = batchesOf(drawn);
      const { rows, defined } = travelled(batches);
      expect(rows).toEqual(batches.flatMap((batch) => rowsOf(batch, tagsOf)));
      expect(defined).toBe(new Set(batches.flatMap(({ runs }) => [...(runs?.series ?? [])])).size);
    }),
    { seed: 21, numRuns: 200 },
  );
});

test("a large batch goes in pieces", () => {
  const codes = Array.from({ length: 30_000 }, (_, i) => i % 61);
  const [batch] = batchesOf([{ codes, runs: Array.from({ length: 900 }, (_, i) => i * 33), grows: 2 }]);
  const { rows, frames } = travelled([batch as ExecBatch]);
  expect(frames).toBeGreaterThan(5);
  expect(rows).toEqual([...rowsOf(batch as ExecBatch, tagsOf)]);
});

test("statistics in the place of rows are refused", () => {
  const summary = { minTime: 0n, maxTime: 0n, columns: [] };
  const frames = new FragmentFrames(undefined).of({ rowCount: 5, vectors: [], summary });
  expect(() => frames.next()).toThrow("cannot send statistics of pages");
});

test("series beyond the memory of the request fail it", () => {
  const frames = new FragmentFrames(new StreamSeries(TABLE, VIEW, new MemoryBudget(100)));
  const [batch] = batchesOf([{ codes: [1, 2, 3], runs: [], grows: 0 }]);
  expect(() => [...frames.of(batch as ExecBatch)]).toThrow("it needs more than");
});

/** Reads frames of text columns. */
function readAll(...batches: readonly (PlainBatch | Uint8Array)[]): void {
  const reader = new FragmentReader([STRING]);
  for (const batch of batches) {
    const frame = batch instanceof Uint8Array ? { kind: FRAME.series, payload: batch } : { kind: FRAME.rows, payload: encodeRows(batch) };
    reader.read(frame);
  }
}

const text = (start: number, texts: readonly (string | undefined)[], codes: readonly number[]): PlainBatch => ({
  rowCount: codes.length,
  vectors: [{ kind: "dictionary", codes: Uint32Array.from(codes), start, texts }],
  runs: undefined,
});
const codedRows = (entries: boolean, codes: readonly number[]): PlainBatch => ({
  rowCount: codes.length,
  vectors: [
    {
      kind: "coded",
      codes: Uint32Array.from(codes),
      entries: entries ? { size: 2, bytes: Uint8Array.of(65), starts: Uint32Array.of(0, 0, 1) } : undefined,
    },
  ],
  runs: undefined,
});
const withRuns = (series: readonly number[]): PlainBatch => ({
  ...text(0, [undefined, "a"], [1, 1]),
  runs: { starts: Uint32Array.of(0, 2), series: Uint32Array.from(series) },
});

test.each<[string, readonly (PlainBatch | Uint8Array)[], string | undefined]>([
  ["a dictionary that grows", [text(0, [undefined, "a"], [1]), text(2, ["b"], [2]), text(3, [], [2, 1])], undefined],
  ["a dictionary that begins anew", [text(0, [undefined, "a"], [1]), text(0, [undefined], [0])], undefined],
  ["texts behind others that did not come", [text(2, ["b"], [1])], "texts of column 0 follow others that did not come"],
  ["texts with a gap before them", [text(0, [undefined, "a"], [1]), text(3, ["b"], [1])], "follow others that did not come"],
  ["texts that came already", [text(0, [undefined, "a"], [1]), text(1, ["b"], [1])], "follow others that did not come"],
  ["a dictionary whose NULL is a text", [text(0, ["a"], [0])], "the dictionary of column 0 has no NULL"],
  ["a code beyond the dictionary", [text(0, [undefined], [1])], "a column is not of its type"],
  ["entries that came before", [codedRows(true, [1]), codedRows(false, [0, 1])], undefined],
  ["entries that did not come", [codedRows(false, [0])], "column 0 names texts that did not come"],
  ["a code beyond entries that came before", [codedRows(true, [1]), codedRows(false, [2])], "column 0 names texts that did not come"],
  ["series that were defined", [encodeSeries(1, 0, []), withRuns([0])], undefined],
  ["series that were not defined", [encodeSeries(1, 0, []), withRuns([1])], "rows name series that were not defined"],
])("%s", (_, batches, why) => {
  if (why === undefined) readAll(...batches);
  else expect(() => readAll(...batches)).toThrow(why);
});
