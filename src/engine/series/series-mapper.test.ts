import { expect, test } from "bun:test";
import { INT32 } from "../../column/data-type.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { SeriesDictionary, type TagSet } from "../../table/series-dictionary.ts";
import { mapRows, resolveKeys, SegmentMarks, SeriesMapper, unresolvedKeys } from "./series-mapper.ts";

const UNKNOWN = 0xffff_ffff;

function registryOf(...names: readonly string[]): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns(names.map((name, i) => ({ id: i + 1, name })));
  return registry;
}

test("keys are unknown until they are resolved, and known from then on", () => {
  const mapper = new SeriesMapper();
  const dictionary = new SeriesDictionary();
  const map = mapper.mapOf(dictionary, "public", 0);
  expect(unresolvedKeys(Uint32Array.of(2, 1, 2, 2), 4, map)).toEqual([2, 1]);
  map[2] = 7;
  expect(unresolvedKeys(Uint32Array.of(2, 1, 2, 2), 4, map)).toEqual([1]);
  expect(mapper.mapOf(dictionary, "public", 0)[2]).toBe(7);
});

test("only rows that count are looked at", () => {
  expect(unresolvedKeys(Uint32Array.of(1, 2, 3), 1, new SeriesMapper().mapOf(new SeriesDictionary(), "public", 0))).toEqual([1]);
});

test("a new generation, another database and a drop begin anew", () => {
  const mapper = new SeriesMapper();
  const dictionary = new SeriesDictionary();
  const known = (database: string, epoch: number): number | undefined => mapper.mapOf(dictionary, database, epoch)[0];
  mapper.mapOf(dictionary, "public", 0)[0] = 5;
  expect(known("public", 0)).toBe(5);
  expect(known("other", 0)).toBe(UNKNOWN);
  mapper.mapOf(dictionary, "public", 0)[0] = 5;
  expect(known("public", 1)).toBe(UNKNOWN);
  mapper.mapOf(dictionary, "public", 1)[0] = 5;
  dictionary.clear();
  expect(known("public", 1)).toBe(UNKNOWN);
});

test("maps of two dictionaries are apart, and grow with them", () => {
  const mapper = new SeriesMapper();
  const [a, b] = [new SeriesDictionary(), new SeriesDictionary()];
  mapper.mapOf(a, "public", 0)[3] = 9;
  for (let i = 0; i < 5000; i++) a.add(new Uint8Array(4), 0, 4, i, { table: "t", names: [], values: [] });
  const grown = mapper.mapOf(a, "public", 0);
  expect([grown.length >= 5000, grown[3], grown[4999]]).toEqual([true, 9, UNKNOWN]);
  expect(mapper.mapOf(b, "public", 0)[3]).toBe(UNKNOWN);
});

/** The series of keys with these tags, in the form in which a decoder with escapes has them. */
function resolved(registry: SeriesRegistry, ...tags: readonly Omit<TagSet, "table">[]): number[] {
  const dictionary = new SeriesDictionary();
  const keys = tags.map((set, key) => dictionary.add(new Uint8Array(4), 0, 4, key, { table: "t", ...set }));
  const map = new Uint32Array(keys.length);
  resolveKeys(keys, dictionary, registry, map);
  return [...map];
}

test("tags find their columns by name, in any order, and missing ones are NULL", () => {
  const registry = registryOf("host", "rack");
  const rackOnly = { names: ["rack"], values: ["r"] };
  expect(
    resolved(registry, { names: ["rack", "host"], values: ["r", "h"] }, { names: ["host", "rack"], values: ["h", "r"] }, rackOnly),
  ).toEqual([0, 0, 1]);
  expect(registry.tagOf("host", 1)).toBeUndefined();
});

test("plain keys get the series that keys with values get", () => {
  const registry = registryOf("host", "rack");
  const decoder = new InfluxDecoder();
  const lines = [
    "t,rack=r,host=h v=1 1",
    "t,host=h,rack=r v=1 1",
    "t,rack=r v=1 1",
    "t,rack=r,host=hä v=1 1",
    "t,rack=r\\,,host=h v=1 1",
    "t v=1 1",
  ];
  const options = {
    database: "public",
    schemas: { columnOf: () => undefined },
    precision: "ns",
    defaultTimeNanos: 0n,
    timeColumn: "ts",
  } as const;
  const { batch } = decoder.decode(new TextEncoder().encode(lines.join("\n")), options);
  const keys = [...(batch.tables[0]?.keys.subarray(0, lines.length) ?? [])];
  const map = new Uint32Array(lines.length);
  resolveKeys(keys, batch.dictionary, registry, map);
  expect(keys.map((key) => map[key])).toEqual([0, 0, 1, 2, 3, 4]);
  const texts = [2, 3, 4].map((series) => [registry.tagOf("host", series), registry.tagOf("rack", series)]);
  expect(texts).toEqual([
    ["hä", "r"],
    ["h", "r,"],
    [undefined, undefined],
  ]);
});

test("keys of several shapes, plain ones in blocks and others between them, get the series that each gets alone", () => {
  const decoder = new InfluxDecoder();
  const line = (i: number): string => {
    if (i % 97 === 0) return `t,rack=r\\,${i % 3},host=h${i}`;
    return i % 389 < 3 ? `t,host=h${i % 50}` : `t,rack=r${i % 7},host=h${i % 900}`;
  };
  const lines = Array.from({ length: 3000 }, (_, i) => `${line(i)} v=1 1`);
  const options = { database: "public", schemas: { columnOf: () => undefined }, precision: "ns", defaultTimeNanos: 0n } as const;
  const { batch } = decoder.decode(new TextEncoder().encode(lines.join("\n")), { ...options, timeColumn: "ts" });
  const { dictionary } = batch;
  const keys = Array.from({ length: dictionary.size }, (_, key) => key);
  const map = new Uint32Array(keys.length);
  const registry = registryOf("zone", "host", "rack");
  resolveKeys(keys, dictionary, registry, map);
  const want = keys.map((key) =>
    Object.fromEntries(dictionary.tagsOf(key).names.map((name, i) => [name, dictionary.tagsOf(key).values[i]])),
  );
  const got = keys.map((key) => ({ host: registry.tagOf("host", map[key] ?? 0), rack: registry.tagOf("rack", map[key] ?? 0) }));
  expect(got).toEqual(want.map(({ host, rack }) => ({ host, rack })));
  expect(registry.count).toBe(new Set(want.map((tags) => `${tags["host"]} ${tags["rack"]}`)).size);
});

test("a value of a typed tag is one series, however it was written", () => {
  const registry = new SeriesRegistry("t");
  registry.setColumns([
    { id: 1, name: "id", type: INT32 },
    { id: 2, name: "host" },
  ]);
  const sets = ["9", "+09", "", "-9"].map((id) => ({ names: ["id", "host"], values: [id, "09"] }));
  expect(resolved(registry, ...sets)).toEqual([0, 0, 1, 2]);
  expect(registry.dictionaryOf("id")).toEqual([undefined, "9", "-9"]);
  expect(registry.dictionaryOf("host")).toEqual([undefined, "09"]);
});

test("a text that is no value of its tag is refused by name, and makes no series", () => {
  const registry = new SeriesRegistry("t");
  registry.setColumns([{ id: 1, name: "id", type: INT32 }]);
  for (const id of ["x", "1.5", "2147483648"]) {
    const resolve = (): unknown => resolved(registry, { names: ["id"], values: [id] });
    expect(resolve).toThrow(`cannot write to table t: tag id is INT, a whole number of 32 bits, signed; got '${id}'`);
  }
  expect(registry.count).toBe(0);
});

test("rows get their series; those that the segment does not know yet are listed once", () => {
  const marks = new SegmentMarks();
  const target = new Uint32Array(4);
  const map = (segment: number, ...keys: readonly number[]): { readonly max: number; readonly fresh: readonly number[] } => {
    const fresh: number[] = [];
    const seriesOfKey = Uint32Array.of(10, 20, 30, 40);
    const max = mapRows(Uint32Array.from(keys), keys.length, seriesOfKey, marks.reserve(50), segment, target, fresh);
    return { max, fresh };
  };
  expect(map(1, 2, 0, 2, 1)).toEqual({ max: 30, fresh: [30, 10, 20] });
  expect([...target]).toEqual([30, 10, 30, 20]);
  expect(map(1, 0, 3)).toEqual({ max: 40, fresh: [40] });
  expect(map(2, 0)).toEqual({ max: 10, fresh: [10] });
  marks.forget();
  expect(map(2, 0)).toEqual({ max: 10, fresh: [10] });
});

test("marks keep what they know when they grow", () => {
  const marks = new SegmentMarks();
  marks.reserve(10)[5] = 3;
  const grown = marks.reserve(100_000);
  expect([grown.length >= 100_000, grown[5], grown[99_999]]).toEqual([true, 3, 0]);
});
