/**
 * Groups by keys that somebody made so that tables are slow: keys whose hashes would meet if they were not seeded, all rows of one group,
 * all NULL. Each is to take at most twice as long as keys drawn at random.
 *
 *   bun src/query/bench/crafted-keys.bench.ts
 */
import { planContext } from "../../../test/support/plan-run.ts";
import { type DataType, INT64 } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { aggregateNamed } from "../function/aggregate/registry.ts";
import { aggregate } from "../operator/aggregate/aggregate.ts";
import type { AggregateCall } from "../operator/node-parts/aggregate-call.ts";
import type { ExecBatch } from "../operator/contract/exec-context.ts";
import type { NodeOf } from "../operator/contract/node.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 5000 : 2_000_000;
const KEYS: number = SMALL ? 1000 : 500_000;
const BATCH = 16_384;
const RUNS: number = SMALL ? 1 : 5;
const BINARY: DataType = { kind: "binary" };

/** A number that looks drawn. */
function drawn(n: number): number {
  const hash = Math.imul(n ^ (n >>> 16), 0x7feb352d);
  return Math.imul(hash ^ (hash >>> 15), 0x846ca68b) >>> 0;
}

/** The words of an integer from the number of its key. */
type Words = (key: number) => readonly [low: number, high: number];

/** Batches of rows, each of a key that looks drawn. */
function integers(words: Words): readonly ExecBatch[] {
  return batchesOf((keys) => {
    const pairs = new Int32Array(keys.length * 2);
    for (const [i, key] of keys.entries()) pairs.set(words(key), i * 2);
    return { kind: "wide", values: new BigInt64Array(pairs.buffer), validity: undefined };
  });
}

function texts(length: number, write: (key: number, bytes: Uint8Array) => void): readonly ExecBatch[] {
  return batchesOf((keys) => {
    const bytes = new Uint8Array(keys.length * length);
    for (const [i, key] of keys.entries()) write(key, bytes.subarray(i * length, (i + 1) * length));
    return { kind: "bytes", offsets: Uint32Array.from({ length: keys.length + 1 }, (_, i) => i * length), bytes, validity: undefined };
  });
}

function batchesOf(vector: (keys: readonly number[]) => Vector): readonly ExecBatch[] {
  const batches: ExecBatch[] = [];
  for (let from = 0; from < ROWS; from += BATCH) {
    const rowCount = Math.min(BATCH, ROWS - from);
    batches.push({ rowCount, vectors: [vector(Array.from({ length: rowCount }, (_, i) => drawn(from + i) % KEYS))] });
  }
  return batches;
}

/** What the first word leaves of an unseeded hash, and what the second is to be so that all keys have one hash. */
const meeting: Words = (key) => {
  const hash = Math.imul(key, 0x85ebca6b);
  return [key, hash ^ (hash >>> 15) ^ 0x1234567];
};
/** The highest bit of a word, undone by the next: without a secret factor all of these meet, whatever the seed. */
function flipped(key: number, bytes: Uint8Array): void {
  for (let bit = 0; bit * 8 + 8 <= bytes.length; bit++) {
    if (((key >>> bit) & 1) === 0) continue;
    bytes[bit * 8 + 3] = 0x80;
    bytes[bit * 8 + 6] = 1;
    bytes[bit * 8 + 7] = 0x80;
  }
}
function random(key: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = drawn(key * 64 + at);
}

/** Cases by what they are compared with, which stands first. */
const CASES: Readonly<Record<string, readonly (readonly [name: string, type: DataType, batches: () => readonly ExecBatch[]])[]>> = {
  integers: [
    ["drawn at random", INT64, () => integers((key) => [drawn(key), drawn(key + 1e6)])],
    ["that meet without a seed", INT64, () => integers(meeting)],
    ["whose halves cancel out", INT64, () => integers((key) => [drawn(key), drawn(key) ^ 0x2545f491])],
    ["of high bits alone", INT64, () => integers((key) => [0, key << 12])],
    ["all of one group", INT64, () => integers(() => [7, 0])],
    ["all NULL", INT64, () => integers(() => [0, 0]).map(nulls)],
  ],
  "texts of 160 bytes": [
    ["drawn at random", BINARY, () => texts(160, random)],
    ["that meet without a factor", BINARY, () => texts(160, flipped)],
    ["all of one group", BINARY, () => texts(160, (_, bytes) => bytes.fill(65))],
  ],
};

function nulls({ rowCount, vectors: [vector] }: ExecBatch): ExecBatch {
  return { rowCount, vectors: vector === undefined ? [] : [{ ...vector, validity: new Uint8Array(rowCount) } as Vector] };
}

const count = aggregateNamed("count");
if (count === undefined) throw new Error("there is count");
const COUNT: AggregateCall = {
  function: count,
  type: { args: [], result: INT64 },
  args: [],
  distinct: false,
  orderBy: [],
  filter: undefined,
};

/** Groups found, and the milliseconds of processor time that it took. */
async function grouped(type: DataType, batches: readonly ExecBatch[]): Promise<readonly [groups: number, millis: number]> {
  const columns = [{ name: "k", type }];
  const node: NodeOf<"aggregate"> = {
    kind: "aggregate",
    input: { kind: "source", name: "", columns, source: { kind: "no-rows" } },
    columns: [...columns, { name: "count", type: INT64 }],
    keys: [{ kind: "row", type, expression: { kind: "column", type, index: 0, name: "k" } }],
    aggregates: [COUNT],
    table: undefined,
  };
  async function* input(): AsyncGenerator<ExecBatch> {
    yield* batches;
  }
  const before = process.cpuUsage();
  let groups = 0;
  for await (const { rowCount } of aggregate(node, input(), planContext({} as never))) groups += rowCount;
  const { user, system } = process.cpuUsage(before);
  return [groups, (user + system) / 1000];
}

let hash = 0;
for (const [kind, cases] of Object.entries(CASES)) {
  let atRandom: number | undefined;
  for (const [name, type, make] of cases) {
    const batches = make();
    const times: number[] = [];
    let groups = 0;
    for (let run = 0; run < RUNS; run++) {
      const [found, millis] = await grouped(type, batches);
      groups = found;
      times.push(millis);
    }
    const median = times.sort((a, b) => a - b)[RUNS >> 1] ?? 0;
    atRandom ??= median;
    hash = (hash * 31 + groups) % 1_000_003;
    const [nanos, ratio] = [((median * 1e6) / ROWS).toFixed(0), (median / atRandom).toFixed(2)];
    console.log(`${kind} ${name}: ${groups} groups, ${nanos} ns a row, ${ratio} x random`);
  }
}
console.log(`hash ${hash}`);
