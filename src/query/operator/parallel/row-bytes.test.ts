/** Rows and partial groups as bytes: groups that were made elsewhere are put together here as if their rows had been. */
import type { Vector } from "../../../column/vector.ts";
import { slice } from "../../../column/slice.ts";
import { codedOf, TEXTS } from "../../../../test/support/coded-text.ts";
import { beforeAll, describe, expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import type { ScanBatch, ScanRequest } from "../../../table/scan.ts";
import type { MemoryTable } from "../../../../test/support/memory-catalog.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { aggregateNames } from "../../function/aggregate/registry.ts";
import { parseSql } from "../../sql/parse.ts";
import type { Query } from "../../sql/syntax/ast.ts";
import { execContextOf, prepareSelect } from "../../statement/shared/select.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import { inputsOf, type NodeOf, type PlanNode } from "../contract/node.ts";
import { decodePlan, encodePlan } from "../contract/plan-bytes.ts";
import type { PlainBatch, PlainVector } from "../contract/query-workers.ts";
import { run } from "../run.ts";
import { BatchPacker, BatchUnpacker } from "./plain-batch.ts";
import { decodeRows, encodeRows } from "./row-bytes.ts";
import { mergedGroups } from "./shared-run.ts";
import { PARTIAL_FORMS, twoPhases } from "./two-phase.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(
    "CREATE TABLE m (host STRING PRIMARY KEY, a BIGINT, x DOUBLE, d DECIMAL(30, 2), ok BOOLEAN, s STRING, ts TIMESTAMP(3) TIME INDEX)",
  );
  const rows = Array.from({ length: 90 }, (_, i) => {
    const a = i % 7 === 0 ? "NULL" : String(BigInt(i) * 1_000_000_000_000_000n);
    return `('h${i % 4}', ${a}, ${i % 5 === 0 ? "NULL" : i / 8}, ${i}.25, ${i % 3 === 0}, 't${i % 11}', ${i * 1000})`;
  });
  await data.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
});

test("each aggregate has a form in two steps, or a reason why it has none", () => {
  expect(Object.keys(PARTIAL_FORMS).sort()).toEqual([...aggregateNames()].sort());
});

/** The table, of which a scan gives every third batch from the `at`-th on. */
function thirdOf(table: ScannedTable, at: number): ScannedTable {
  const part: ScannedTable = Object.create(table);
  part.scan = async function* (request: ScanRequest): AsyncGenerator<ScanBatch> {
    let count = 0;
    for await (const batch of table.scan(request)) if (count++ % 3 === at) yield batch;
  };
  return part;
}

function table(): MemoryTable {
  const found = data.catalog.table("public", "m");
  if (found === undefined) throw new Error("the table");
  return found;
}

function aggregateIn(node: PlanNode): NodeOf<"aggregate"> {
  for (let at: PlanNode | undefined = node; at !== undefined; at = inputsOf(at)[0]) if (at.kind === "aggregate") return at;
  throw new Error("an aggregation");
}

async function textOf(batches: AsyncIterable<ExecBatch>, columns: PlanNode["columns"]): Promise<readonly string[]> {
  const rows: string[] = [];
  for await (const { rowCount, vectors } of batches) {
    for (let row = 0; row < rowCount; row++) {
      const cells = columns.map(({ type }, i) => {
        const value = vectors[i] === undefined ? undefined : scalarAt(vectors[i], type, row);
        return value instanceof Uint8Array ? value.toHex() : typeof value === "number" ? value.toPrecision(9) : String(value);
      });
      rows.push(cells.join("|"));
    }
  }
  return rows.sort();
}

describe("partial groups of three machines", () => {
  const calls = [
    "count(*), count(a), sum(a), avg(a), mean(x), min(a), max(s), sum(d), avg(x)",
    "bool_and(ok), bool_or(ok), every(ok), bit_and(a), bit_or(a), bit_xor(a), count_if(ok), countif(a > 5)",
    "hll(s), stddev(x), stddev_pop(x), var_samp(a), variance(x), any_value(s), arbitrary(a)",
    "first_value(a ORDER BY ts), last_value(s ORDER BY ts)",
  ];
  const keys = ["", " GROUP BY host", " GROUP BY date_trunc('minute', ts), s"];
  for (const call of calls) {
    for (const key of keys) {
      test(`${call}${key}`, async () => {
        table().batchRows = 7;
        const [query] = parseSql(`SELECT ${call} FROM m${key}`);
        const { plan } = await prepareSelect(query as Query, data.context, {});
        const whole = aggregateIn(plan);
        const phases = twoPhases(whole);
        if (phases === undefined) throw new Error("two steps");
        const context = execContextOf({ now: 0n, timeZone: "UTC", database: "public" }, data.context, {});
        const types = phases.partial.columns.map(({ type }) => type);
        const input = async function* (): AsyncGenerator<ExecBatch> {
          for (let at = 0; at < 3; at++) {
            const elsewhere = decodePlan(encodePlan(phases.partial), {
              table: () => thirdOf(table(), at),
            });
            const [packer, unpacker] = [new BatchPacker(), new BatchUnpacker()];
            for await (const batch of run(elsewhere, { ...context, budget: new MemoryBudget() })) {
              yield unpacker.unpack(decodeRows(encodeRows(packer.pack(batch, []).batch), types));
            }
          }
        };
        const wanted = await textOf(run(whole, context), whole.columns);
        expect(await textOf(mergedGroups(phases, input(), context), whole.columns)).toEqual(wanted);
      });
    }
  }
});

describe("rows that do not go together", () => {
  const good: PlainBatch = {
    rowCount: 2,
    runs: { starts: Uint32Array.of(0, 2), series: Uint32Array.of(7) },
    vectors: [
      { kind: "number", values: Float64Array.of(1, 2), validity: Uint8Array.of(1, 0) },
      { kind: "dictionary", codes: Uint32Array.of(1, 3), start: 2, texts: ["b", "c"] },
      { kind: "time", base: 5n, offsets: Float64Array.of(0, 1), validity: undefined },
      { kind: "bytes", offsets: Uint32Array.of(0, 1, 3), bytes: Uint8Array.of(1, 2, 3), validity: undefined },
    ],
  };
  const types = [INT64, STRING, TIMESTAMP_NANOSECOND, STRING];

  test("are refused; others come back", () => {
    expect(decodeRows(encodeRows(good), types)).toEqual(good);
    const [number, dictionary, time, bytes] = good.vectors;
    if (number === undefined || dictionary === undefined || time === undefined || bytes === undefined) throw new Error("four columns");
    const wrongs: readonly PlainBatch[] = [
      { ...good, vectors: good.vectors.slice(1) },
      { ...good, rowCount: 3 },
      { ...good, vectors: [dictionary, number, time, bytes] },
      { ...good, vectors: [number, { kind: "dictionary", codes: Uint32Array.of(1, 4), start: 2, texts: ["b", "c"] }, time, bytes] },
      {
        ...good,
        vectors: [
          number,
          dictionary,
          time,
          { kind: "bytes", offsets: Uint32Array.of(0, 4, 3), bytes: Uint8Array.of(1), validity: undefined },
        ],
      },
      { ...good, runs: { starts: Uint32Array.of(0, 1), series: Uint32Array.of(7) } },
      { ...good, runs: { starts: Uint32Array.of(0, 2, 2), series: Uint32Array.of(7, 8) } },
    ];
    for (const wrong of wrongs) expect(() => decodeRows(encodeRows(wrong), types)).toThrow(DbError);
  });
});

test("text by code travels with its entries once, and with few of a large table", () => {
  const packer = new BatchPacker();
  const unpacker = new BatchUnpacker();
  const texts = Array.from({ length: 64 }, (_, i) => `text ${i % 4}`);
  const small = codedOf(texts);
  const large = codedOf([...Array.from({ length: 5000 }, (_, i) => `other ${i}`), ...TEXTS]);
  const batches = [small, small, slice(large, 5000, 5000 + TEXTS.length), small].map((vector): ExecBatch => {
    return { rowCount: vector === small ? texts.length : TEXTS.length, vectors: [vector], runs: undefined };
  });
  const packed = batches.map((batch) => packer.pack(batch, []));
  expect(packed[1]?.bytes).toBe(texts.length * 4);
  expect(packed[2]?.bytes).toBeLessThan(2000);
  for (const [i, { batch }] of packed.entries()) {
    const back = unpacker.unpack(decodeRows(encodeRows(batch), [STRING]));
    const want = i === 2 ? TEXTS : texts;
    expect(want.map((_, row) => scalarAt(back.vectors[0] as Vector, STRING, row))).toEqual([...want]);
  }
});

test("codes of texts that are not there are refused", () => {
  const { codes, entries } = codedOf(TEXTS);
  const refused: readonly PlainVector[] = [
    { kind: "coded", codes: Uint32Array.of(entries.size), entries },
    { kind: "coded", codes, entries: { ...entries, size: entries.size + 1 } },
    { kind: "coded", codes, entries: { ...entries, bytes: entries.bytes.slice(1) } },
    { kind: "coded", codes, entries: { ...entries, starts: entries.starts.toReversed() } },
  ];
  for (const vector of refused) {
    const bytes = encodeRows({ rowCount: 1, vectors: [vector], runs: undefined });
    expect(() => decodeRows(bytes, [STRING])).toThrow(DbError);
  }
  const later: PlainBatch = { rowCount: 1, vectors: [{ kind: "coded", codes, entries: undefined }], runs: undefined };
  expect(() => new BatchUnpacker().unpack(later)).toThrow("did not come before");
});

test("tags of every type are texts, sums of integers numbers", () => {
  const tags: PlainVector = { kind: "dictionary", codes: Uint32Array.of(1, 0), start: 0, texts: [undefined, "7"] };
  const sums: PlainVector = { kind: "number", values: Float64Array.of(42, 0), validity: Uint8Array.of(1, 0) };
  const batch: PlainBatch = { rowCount: 2, vectors: [tags, sums], runs: undefined };
  const types = [INT64, { kind: "decimal", precision: 38, scale: 0 } as const];
  expect(decodeRows(encodeRows(batch), types)).toEqual(batch);
  expect(() => decodeRows(encodeRows({ ...batch, vectors: [sums, sums] }), [STRING, INT64])).toThrow("not of its type");
});
