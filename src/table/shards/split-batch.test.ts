import { expect, test } from "bun:test";
import {
  logicalSchema,
  modelShardIn,
  physicalSchema,
  placedSchema,
  plainDictionary,
  plainKey,
} from "../../../test/support/placement-model.ts";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { StatusCode } from "../../base/status-code.ts";
import { BINARY, type DataType, FLOAT64, INT32, INT64, STRING, type TimeUnit, UINT32 } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { TableSchema } from "../schema.ts";
import { SeriesDictionary, type TagShape } from "../series-dictionary.ts";
import type { TableWrite, WriteBatch } from "../write-batch.ts";
import { fnv1a } from "../../base/bytes/hash.ts";
import { BatchSplitter } from "./split-batch.ts";

const literal = (value: Scalar) => ({ kind: "literal", value }) as const;
const HOSTS: readonly string[] = ["", "a", "b", "ü", "host_1", "host_22"];

/** Every kind of placement, in units and ids that differ. */
const TABLES: readonly TableSchema[] = [
  placedSchema("plain", 1, [
    { id: 3, name: "host" },
    { id: 4, name: "zone", default: literal("a") },
    { id: 7, name: "later", initial: literal("b"), default: literal("host_1") },
    { id: 9, name: "port", type: INT32, default: literal(7) },
  ]),
  placedSchema("texts", 12, [
    { id: 3, name: "host" },
    { id: 4, name: "zone", default: literal("a") },
    { id: 7, name: "later", initial: literal("b"), default: literal("host_1") },
    { id: 8, name: "emptied", initial: literal("b") },
  ]),
  placedSchema("wide", 2, [{ id: 3, name: "host" }], { options: { spread: "1000" } }),
  placedSchema(
    "changed",
    77,
    [
      { id: 5, name: "host" },
      { id: 6, name: "zone" },
    ],
    {
      options: { spread: "2" },
      spreads: [{ spread: 3 }, { from: -5n, spread: 7 }, { from: 40n, spread: 2 }],
    },
  ),
  placedSchema(
    "hashed",
    5,
    [
      { id: 3, name: "host" },
      { id: 4, name: "zone" },
    ],
    {
      partitions: { columns: ["zone"], rules: ["zone < 'b'", "zone = 'b'", "zone > 'b'"] },
    },
  ),
  placedSchema(
    "ruled",
    6,
    [
      { id: 3, name: "host" },
      { id: 4, name: "port", type: INT32 },
    ],
    {
      partitions: {
        columns: ["port", "host"],
        rules: ["port < 9 AND host < 'b'", "port < 9 AND host >= 'b'", "port >= 9"],
        tests: [
          {
            kind: "all",
            of: [
              { kind: "compare", column: "port", operator: "<", text: "9" },
              { kind: "compare", column: "host", operator: "<", text: "b" },
            ],
          },
          {
            kind: "all",
            of: [
              { kind: "compare", column: "port", operator: "<", text: "9" },
              { kind: "compare", column: "host", operator: ">=", text: "b" },
            ],
          },
          { kind: "compare", column: "port", operator: ">=", text: "9" },
        ],
      },
    },
  ),
  placedSchema("by_field", 8, [{ id: 3, name: "host" }], { partitions: { columns: ["v"], rules: ["v < 0", "v >= 0"] } }),
  placedSchema("tagless", 9, []),
  physicalSchema("phy", 1024, [
    { id: 5, name: "host" },
    { id: 6, name: "zone" },
    { id: 11, name: "pod" },
  ]),
  logicalSchema("up", 1025, "phy", ["zone", "host"]),
  logicalSchema("down", 1026, "phy", ["host", "pod"]),
];
const FIELDS: readonly (readonly [name: string, type: DataType])[] = [
  ["v", FLOAT64],
  ["i", INT64],
  ["u", UINT32],
  ["s", STRING],
  ["b", BINARY],
];

const schemaOf = (_database: string, table: string): TableSchema | undefined => TABLES.find(({ name }) => name === table);
const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;

/** Keys of random tag sets of tables, half of the dictionaries with values where they lie. */
class RandomKeys {
  readonly dictionary: SeriesDictionary;
  private readonly isPlain: boolean;
  private readonly known: Map<string, number> = new Map();
  private readonly shapes: Map<string, TagShape> = new Map();
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
    this.isPlain = random.below(2) === 0;
    this.dictionary = this.isPlain ? plainDictionary() : new SeriesDictionary();
  }

  keyOf({ name: table, columns }: TableSchema): number {
    const { random } = this;
    const tags = columns.filter(({ semantic }) => semantic === "tag");
    const given = random.sample(random.below(tags.length + 1), tags.length).map((i) => tags[i] as (typeof tags)[number]);
    const names = given.map((tag) => tag.name);
    const values = given.map(({ type }) => (type.kind === "int" ? pick(random, ["7", "+07", "-1", "100", ""]) : pick(random, HOSTS)));
    const isOrdinary = table !== "up" && table !== "down";
    const nulls = tags.flatMap((tag) =>
      isOrdinary && !this.isPlain && !names.includes(tag.name) && random.below(2) === 0 ? [tag.name] : [],
    );
    const raw = JSON.stringify([table, names, values, nulls]);
    let key = this.known.get(raw);
    if (key === undefined) {
      key = this.isPlain ? plainKey(this.dictionary, this.shapeOf(table, names), values) : this.added(raw, { table, names, values, nulls });
      this.known.set(raw, key);
    }
    return key;
  }

  private shapeOf(table: string, names: readonly string[]): TagShape {
    const text = JSON.stringify([table, names]);
    const shape = this.shapes.get(text) ?? { table, names };
    this.shapes.set(text, shape);
    return shape;
  }

  private added(raw: string, tags: TagShape & { readonly values: readonly string[]; readonly nulls: readonly string[] }): number {
    const bytes = new TextEncoder().encode(raw);
    return this.dictionary.add(bytes, 0, bytes.length, fnv1a(bytes, 0, bytes.length), tags);
  }
}

function randomValue(random: Random, { kind }: DataType): Scalar {
  if (random.below(4) === 0) return undefined;
  if (kind === "string") return pick(random, HOSTS);
  if (kind === "binary") return Uint8Array.of(random.below(256), random.below(256)).subarray(random.below(3));
  return random.below(1000);
}

function randomWrite(random: Random, table: string, keys: RandomKeys): TableWrite {
  const rowCount = random.below(5) === 0 ? random.below(2) : 1 + random.below(40);
  const isMetric = table === "phy";
  const schema = schemaOf("public", table) as TableSchema;
  const pool = Array.from({ length: 1 + random.below(8) }, () =>
    keys.keyOf(isMetric ? (schemaOf("public", pick(random, ["up", "down"])) as TableSchema) : schema),
  );
  const timeUnit = pick<TimeUnit>(random, ["second", "millisecond", "microsecond"]);
  const base = BigInt(random.below(40) - 20);
  const scale = { second: 0.1, millisecond: 1, microsecond: 1000, nanosecond: 1 }[timeUnit];
  return {
    table,
    ...(isMetric ? { tablesOfKeys: true } : {}),
    rowCount,
    keys: Uint32Array.from({ length: rowCount + random.below(3) }, () => pick(random, pool)),
    timeUnit,
    times: {
      kind: "time",
      base,
      offsets: Float64Array.from({ length: rowCount + random.below(3) }, () => Math.floor((random.below(120) - 60) * scale)),
      validity: undefined,
    },
    fields: FIELDS.slice(0, random.below(FIELDS.length + 1)).map(([name, type]) => {
      const vector = vectorOf(
        type,
        Array.from({ length: rowCount }, () => randomValue(random, type)),
      );
      return { name, type, vector };
    }),
  };
}

/** Rows of a batch as text, with the place in its table's writes that their order is told by. */
function rowsOf({ dictionary, tables }: WriteBatch): readonly { readonly shard: number; readonly text: string }[] {
  return tables.flatMap((write) =>
    Array.from({ length: write.rowCount }, (_, row) => {
      const tags = dictionary.tagsOf(write.keys[row] as number);
      const time = write.times.base + BigInt(write.times.offsets[row] as number);
      const shard = modelShardIn(
        TABLES,
        write.tablesOfKeys === true ? tags.table : write.table,
        { tags, time, unit: write.timeUnit },
        SHARDS,
      );
      const fields = write.fields.map(({ name, type, vector }) => `${name}=${String(scalarAt(vector, type, row))}`);
      return { shard, text: `${write.table} ${JSON.stringify(tags)} ${fields.join()} ${time} ${write.timeUnit}` };
    }),
  );
}

const SHARDS = 11;

/** Some batches of one decoder. */
function splitRandomly(seed: number): void {
  const random = seededRandom(seed);
  const splitter = new BatchSplitter(SHARDS, schemaOf);
  const keys = new RandomKeys(random);
  for (let round = 0; round < 4; round++) {
    const tables = Array.from({ length: 1 + random.below(4) }, () => randomWrite(random, pick(random, TABLES).name, keys));
    const batch = { dictionary: keys.dictionary, tables };
    const parts = splitter.split("public", batch, 0);
    const wanted = Map.groupBy(rowsOf(batch), ({ shard }) => shard);
    expect([seed, parts.map(({ shard }) => shard)]).toEqual([seed, [...wanted.keys()].sort((a, b) => a - b)]);
    for (const { shard, batch: part } of parts) expect([seed, rowsOf(part)]).toEqual([seed, wanted.get(shard) ?? []]);
  }
}

test.each([0, 100, 200])("a split batch has each row where the model says, in its order (a hundred seeds from %d)", (first) => {
  for (let seed = first; seed < first + 100; seed++) splitRandomly(seed);
});

/** Rows of table `wide`, one a host. */
function hostRows(dictionary: SeriesDictionary, hosts: readonly string[], table = "wide"): TableWrite {
  const keys = Uint32Array.from(hosts, (host) => {
    const bytes = new TextEncoder().encode(host);
    return dictionary.add(bytes, 0, bytes.length, fnv1a(bytes, 0, bytes.length), { table, names: ["host"], values: [host] });
  });
  const times = { kind: "time", base: 0n, offsets: new Float64Array(hosts.length), validity: undefined } as const;
  const vector = vectorOf(
    FLOAT64,
    hosts.map((_, i) => i),
  );
  return { table, rowCount: hosts.length, keys, timeUnit: "millisecond", times, fields: [{ name: "v", type: FLOAT64, vector }] };
}

test("what lies in one shard is passed on as it is", () => {
  const dictionary = new SeriesDictionary();
  const [write, more] = [hostRows(dictionary, ["a"]), hostRows(dictionary, ["b", "c", "d", "e", "f"])];
  const splitter = new BatchSplitter(SHARDS, schemaOf);
  const batch = { dictionary, tables: [write, { ...write, rowCount: 0 }, write] };
  expect(splitter.split("public", batch, 0)).toEqual([{ shard: expect.any(Number), batch }]);
  expect(splitter.split("public", batch, 0)[0]?.batch).toBe(batch);
  const parts = splitter.split("public", { dictionary, tables: [write, more] }, 0);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.flatMap((part) => part.batch.tables)).toContain(write);
});

test("a batch without rows goes nowhere", () => {
  const dictionary = new SeriesDictionary();
  const splitter = new BatchSplitter(SHARDS, schemaOf);
  expect(splitter.split("public", { dictionary, tables: [] }, 0)).toEqual([]);
  expect(splitter.split("public", { dictionary, tables: [{ ...hostRows(dictionary, ["a"]), rowCount: 0 }] }, 0)).toEqual([]);
});

test("a new epoch and a new generation begin anew", () => {
  const dictionary = new SeriesDictionary();
  const tables = [placedSchema("t", 4, [{ id: 3, name: "host" }]), placedSchema("t", 4, [{ id: 4, name: "host" }])];
  let now = 0;
  const splitter = new BatchSplitter(1024, () => tables[now]);
  const hosts = Array.from({ length: 64 }, (_, i) => `host ${i}`);
  const shardsOf = (epoch: number): readonly number[] => {
    dictionary.clear();
    const tables = [hostRows(dictionary, hosts, "t")];
    return splitter.split("public", { dictionary, tables }, epoch).map(({ batch }) => batch.tables[0]?.rowCount ?? 0);
  };
  const before = shardsOf(0);
  now = 1;
  expect(shardsOf(0)).not.toEqual(before);
  const keyed = hostRows(dictionary, hosts, "t");
  const split = (epoch: number) =>
    splitter.split("public", { dictionary, tables: [keyed] }, epoch).map((part) => part.batch.tables[0]?.rowCount);
  const second = split(1);
  now = 0;
  expect(split(1)).toEqual(second);
  expect(split(2)).toEqual([...before]);
});

test("tables, tags and values that there are not are refused, and asked for again", () => {
  const splitter = new BatchSplitter(SHARDS, schemaOf);
  const refusal = (names: readonly string[], values: readonly string[], table = "plain"): unknown => {
    const dictionary = new SeriesDictionary();
    const key = dictionary.add(Uint8Array.of(1), 0, 1, 1, { table, names, values });
    const write = { ...hostRows(dictionary, ["a"], table), keys: Uint32Array.of(key) };
    const attempts = [0, 0].map(() => {
      try {
        return splitter.split("public", { dictionary, tables: [write] }, 0);
      } catch (error) {
        return error;
      }
    });
    expect(attempts[1]).toEqual(attempts[0]);
    return attempts[0];
  };
  expect(refusal([], [], "nothing")).toMatchObject({ code: StatusCode.TableNotFound });
  expect(refusal(["no"], ["x"])).toMatchObject({ code: StatusCode.TableColumnNotFound, message: "Column no not exists in table plain" });
  expect(refusal(["port"], ["x"])).toMatchObject({ code: StatusCode.InvalidArguments, message: expect.stringContaining("tag port is") });
});
