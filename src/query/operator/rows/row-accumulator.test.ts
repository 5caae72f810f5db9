/** Aggregates of many values: the same by loops and reference, and their results come in steps with turns for others. */
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { beforeAll, expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { INT64 } from "../../../column/data-type.ts";
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import type { Value } from "../../function/value/value.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import { resultOf, rowAccumulator } from "./row-accumulator.ts";

const ROWS = 20_000;
const MANY = `(SELECT number AS n, number * 7919 % 1009 AS k FROM numbers LIMIT ${ROWS}) AS t`;

let data: QueryFixture;
beforeAll(() => {
  data = new QueryFixture();
});

/** `name(number ORDER BY number DESC)`, or without the order. */
function callOf(name: string, isOrdered: boolean): AggregateCall {
  const found = aggregateNamed(name);
  const type = found?.resolve([INT64]);
  if (found === undefined || type === undefined) throw new Error(`there is no ${name}`);
  const expression = { kind: "column", type: INT64, index: 0, name: "n" } as const;
  const orderBy = isOrdered ? [{ expression, descending: true, nullsFirst: false }] : [];
  return { function: found, type, args: [expression], distinct: false, orderBy, filter: undefined };
}

/** The result of a call over many rows where a turn is due at each step, and how often others had one. */
async function inSteps(call: AggregateCall): Promise<{ readonly value: Value; readonly turns: number }> {
  const accumulator = rowAccumulator(call, () => undefined);
  for (let i = 0; i < ROWS; i++) accumulator.add([i], call.orderBy.length === 0 ? [] : [(i * 7919) % 1009]);
  let [now, turns] = [0, 0];
  const pace = new Pace(new Scheduler({ ...data.context.clock, monotonicMillis: () => (now += 20) }), () => turns++);
  const value = await resultOf(accumulator, { signal: data.context.signal, pace });
  return { value, turns };
}

test("rows that an aggregate orders are sorted with turns for others", async () => {
  for (const [name, isOrdered, turns] of [
    ["array_agg", true, 10],
    ["array_agg", false, 1],
    ["median", false, 5],
  ] as const) {
    const call = callOf(name, isOrdered);
    const taken = await inSteps(call);
    expect(taken.turns, name).toBeGreaterThanOrEqual(turns);
    const accumulator = rowAccumulator(call, () => undefined);
    for (let i = 0; i < ROWS; i++) accumulator.add([i], isOrdered ? [(i * 7919) % 1009] : []);
    expect(accumulator.result(), name).toEqual(taken.value);
  }
});

test("of rows with equal keys the earlier goes first, by loops and reference", async () => {
  const { rows } = await data.both(`SELECT array_agg(n ORDER BY k DESC) FROM ${MANY}`);
  const wanted = Array.from({ length: ROWS }, (_, n) => ({ n, k: (n * 7919) % 1009 })).sort((a, b) => b.k - a.k);
  expect(JSON.parse(String(rows[0]?.[0]))).toEqual(wanted.map(({ n }) => n));
});

test("aggregates of many rows agree by loops and reference", async () => {
  const { rows } = await data.both(
    `SELECT median(k), percentile_cont(k, 0.25), count(DISTINCT k), array_length(array_agg(DISTINCT k ORDER BY k)), ` +
      `length(string_agg(DISTINCT k::string, ',' ORDER BY k::string)), length(json_encode_path(n, k, k::timestamp)) FROM ${MANY}`,
  );
  expect(rows[0]?.slice(0, 5)).toEqual([504, 252, 1009, 1009, 3934]);
  await data.both(`SELECT n % 3, array_agg(k ORDER BY k, n DESC), median(k) FROM ${MANY} GROUP BY 1`);
  await data.both(`SELECT geo_path(n, k, k::timestamp), json_encode_path(n, k, k::timestamp) FROM ${MANY}`);
});

test("a window whose aggregate orders its rows has the same result in every row", async () => {
  const { rows } = await data.sql(`SELECT DISTINCT length(string_agg('a', '' ORDER BY k) OVER ()) FROM ${MANY} WHERE n < 5000`);
  expect(rows).toEqual([[5000]]);
});
