import { expect, test } from "bun:test";
import { join } from "node:path";
import { errorOf } from "../support/failure-of.ts";
import { MemorySeries } from "../support/memory-series.ts";
import { answerOf, LOOKBACK_MILLIS, TestRun } from "../support/promql-query.ts";
import { runScript, runScripts } from "./promql-run.ts";
import { LAYOUTS, TableStore } from "./promql-store.ts";

/** Every evaluation of the script is as it says, in range mode too. */
async function check(script: string): Promise<void> {
  const { findings, passed } = await runScript(script);
  expect(findings).toEqual([]);
  expect(passed).toBeGreaterThan(0);
}

const RACKS = `load 1m
  volts{rack="r1",row="a"} 3 6 9 12 15 18
  volts{rack="r2",row="a"} 1 1 stale
  volts{rack="r3",row="b"} _ _ 7 7 8 NaN
  amps{rack="r1"} 2x5
  amps{rack="r3"} 4x5
`;

test("a sample is seen until the look-back or a stale marker ends it", () =>
  check(`${RACKS}
eval instant at 2m30s volts
  volts{rack="r1",row="a"} 9
  volts{rack="r3",row="b"} 7

eval instant at 9m59s volts{rack="r1"}
  volts{rack="r1",row="a"} 18

eval instant at 10m volts{rack="r1"}

eval instant at 1m volts{rack="r1"} offset -2m
  volts{rack="r1",row="a"} 12

eval range from 0 to 3m step 1m volts{rack="r1"} @ 60
  volts{rack="r1",row="a"} 6 6 6 6
`));

test("windows leave their beginning out and pass over stale markers", () =>
  check(`${RACKS}
eval instant at 2m count_over_time(volts[1m])
  {rack="r1",row="a"} 1
  {rack="r3",row="b"} 1

eval instant at 5m sum_over_time(volts{rack="r1"}[2m:30s])
  {rack="r1",row="a"} 60

eval instant at 5m increase(volts{rack="r1"}[5m])
  expect info msg: PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "volts" (1:10)
  {rack="r1",row="a"} 15
`));

test("a line through an infinite value is none", () =>
  check(`load 1m
  far 1 2 3 4 5 6 7 8 Inf 9

eval range from 0 to 9m step 1m deriv(far[5m])
  {} _ 0.016666666666666666x6 NaN NaN

eval instant at 9m predict_linear(far[10m], 60)
  {} NaN
`));

test("groups fold what they are given at each step", () =>
  check(`${RACKS}
eval range from 0 to 2m step 1m sum by (row) (volts)
  {row="a"} 4 7 9
  {row="b"} _ _ 7

eval instant at 4m avg without (rack) (volts)
  {row="a"} 15
  {row="b"} 8

eval instant at 1m topk(1, volts)
  expect ordered
  volts{rack="r1",row="a"} 6

eval instant at 4m quantile(2, volts)
  expect warn msg: PromQL warning: quantile value should be between 0 and 1, got 2 (1:10)
  {} +Inf

eval instant at 4m count_values("v", amps)
  {v="2"} 1
  {v="4"} 1
`));

test("operators match series by their labels", () =>
  check(`${RACKS}
eval instant at 2m volts * on (rack) group_left amps
  {rack="r1",row="a"} 18
  {rack="r3",row="b"} 28

eval instant at 2m volts > 8
  volts{rack="r1",row="a"} 9

eval instant at 2m volts and on (rack) amps == 4
  volts{rack="r3",row="b"} 7

eval instant at 0 count_values("v", amps * 5e21 or volts{rack="r1"} / 1e8)
  {v="10000000000000000000000"} 1
  {v="20000000000000000000000"} 1
  {v="0.00000003"} 1

eval instant at 0 amps + on () volts
  expect fail

# Where one side has nothing, nothing matches, however often.
eval instant at 0 watts + on () volts

eval instant at 0 volts > on () group_right watts

eval instant at 0 watts + on () fill (0) volts
  expect fail

eval range from 0 to 3m step 1m volts{rack="r2"} + on () volts{rack!="r2"}
  {} 4 7 _ _

eval range from 0 to 2m step 1m volts{row="b"} or volts{rack="r2"}
  volts{rack="r2",row="a"} 1 1 _
  volts{rack="r3",row="b"} _ _ 7
`));

test("functions of labels, of moments and of nothing", () =>
  check(`${RACKS}
eval instant at 0 label_replace(amps, "n", "no $1", "rack", "r(.)")
  amps{rack="r1",n="no 1"} 2
  amps{rack="r3",n="no 3"} 4

eval instant at 90s absent(watts{rack="r9"})
  {rack="r9"} 1

eval instant at 90s time() - scalar(amps{rack="r1"})
  88

eval instant at 0 sort_desc(amps)
  expect ordered
  amps{rack="r3"} 4
  amps{rack="r1"} 2
`));

test("answers are the same wherever samples lie", async () => {
  const script = `${RACKS}
load 20s
  volts{rack="r4"} 1+1x20
  turns_total{rack="r1"} 0+3x9 stale 1+2x9
  waits {{schema:0 count:3 sum:6 buckets:[1 2]}}+{{schema:0 count:3 sum:6 buckets:[2 1]}}x8 stale

eval instant at 5m sum by (row) (volts)
  {row="a"} 18
  {row="b"} NaN
  {} 16

eval range from 0 to 4m step 1m histogram_count(waits)
  {} 3 12 21 _ _

eval instant at 2m histogram_avg(increase(waits[1m]))
  {} 2

eval range from 0 to 6m step 2m increase(turns_total[3m])
  {rack="r1"} _ 18 20.25 15
`;
  for (const layout of LAYOUTS)
    expect([layout, await runScript(script, await TableStore.open(layout))]).toMatchObject([layout, { findings: [] }]);
});

test("a wrong expectation is found", async () => {
  const { findings } = await runScript(`${RACKS}\neval instant at 0 amps\n  amps{rack="r1"} 2\n  amps{rack="r3"} 5\n`);
  expect(findings).toHaveLength(1);
});

test("borders of windows are samples, or lie on the lines between them", () =>
  check(`load 1m
  turns_total 4 6 1 5

eval instant at 90s increase(turns_total[1m] anchored)
  {} 2

eval instant at 90s increase(turns_total[1m] smoothed)
  {} 1.5

eval instant at 30s turns_total smoothed
  turns_total 5

eval instant at 3m deriv(turns_total[1m] smoothed)
  expect fail msg: smoothed modifier can only be used with: delta, increase, rate - not with deriv
`));

test("series get the labels of info metrics as they are at each step", () =>
  check(`load 1m
  load1{instance="n",job="node"} 1 2 3
  target_info{instance="n",job="node",version="7"} 1 stale
  target_info{instance="n",job="node",version="8"} _ 1 1

eval range from 0 to 2m step 1m info(load1, {version=~".+"})
  load1{instance="n",job="node",version="7"} 1 _ _
  load1{instance="n",job="node",version="8"} _ 2 3
`));

const TIMES = { startMillis: 0, endMillis: 600_000, stepMillis: 10_000, lookbackMillis: LOOKBACK_MILLIS };

function manySeries(count: number): MemorySeries {
  const source = new MemorySeries();
  for (let at = 0; at < count; at++) {
    const labels = new Map([
      ["__name__", "served_total"],
      ["host", `h${at}`],
      ["zone", `z${at % 3}`],
    ]);
    for (let minute = 0; minute <= 10; minute++) source.add(labels, minute * 60_000, minute * at);
  }
  return source;
}

test("a sum of rates holds its groups, not its series", async () => {
  const [few, many] = [new TestRun(), new TestRun()];
  const query = "sum by (zone) (rate(served_total[5m]))";
  await answerOf(query, TIMES, manySeries(9), few);
  const answer = await answerOf(query, TIMES, manySeries(900), many);
  expect(answer.series).toHaveLength(3);
  expect(many.most).toBe(few.most);
});

test("a selector that stands twice is read once", async () => {
  const source = manySeries(4);
  const answer = await answerOf("served_total / (served_total + 1)", TIMES, source);
  expect([source.reads, answer.series.length]).toEqual([1, 4]);
});

test("memory is counted before a result is kept", async () => {
  const answer = answerOf("sort(served_total)", { ...TIMES, endMillis: 0 }, manySeries(900), new TestRun(10_000));
  expect((await errorOf(answer)).message).toBe("out of memory");
});

for (const { file, passed, findings } of await runScripts(join(import.meta.dir, "cases/promql"))) {
  test(`${file} is as it says`, () => {
    expect(findings).toEqual([]);
    expect(passed).toBeGreaterThan(0);
  });
}
