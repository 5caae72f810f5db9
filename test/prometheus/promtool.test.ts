/** `promtool` against a server: what it asks, and that it reads the answers. Skipped where there is none. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../support/server-process.ts";
import { prometheusProgram } from "./prometheus-server.ts";
import { sendSeries } from "./remote-write.ts";

const program = prometheusProgram("promtool");
if (program === undefined) process.stderr.write("promtool.test.ts is skipped: there is no promtool on the path\n");

const CPUS = [
  {
    labels: { __name__: "cpus", host: "a", zone: "x" },
    samples: [60, 120, 180].map((seconds) => ({ time: seconds * 1000, value: seconds / 60 })),
  },
  {
    labels: { __name__: "cpus", host: "b" },
    samples: [
      { time: 120_000, value: Number.POSITIVE_INFINITY },
      { time: 150_000, value: "stale" as const },
    ],
  },
];

let server: TestServer;
let base = "";

beforeAll(async () => {
  if (program === undefined) return;
  server = await TestServer.start();
  base = `${server.url}/v1/prometheus`;
  await sendSeries(`${base}/write`, CPUS);
});
afterAll(() => server?.end());

/** Its status and output. */
async function promtool(args: readonly string[], stdin = ""): Promise<readonly [status: number, output: string]> {
  const child = Bun.spawn([program ?? "", ...args], { stdin: new Blob([stdin]), stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return [await child.exited, `${out}${error}`.trim()];
}

describe.skipIf(program === undefined)("promtool", () => {
  test("asks for a moment", async () => {
    const [status, output] = await promtool(["query", "instant", "--time=120", base, "cpus * 2"]);
    expect([status, output.split("\n").toSorted()]).toEqual([0, ['{host="a", zone="x"} => 4 @[120]', '{host="b"} => +Inf @[120]']]);
    expect(await promtool(["query", "instant", "--time=120", base, "1 + 1"])).toEqual([0, "scalar: 2 @[120]"]);
    expect(await promtool(["query", "instant", "--time=180", base, 'cpus{host="a"}[70s]'])).toEqual([
      0,
      'cpus{host="a", zone="x"} =>\n2 @[120]\n3 @[180]',
    ]);
  });

  test("asks for a range", async () => {
    const times = ["--start=60", "--end=180", "--step=1m"];
    expect(await promtool(["query", "range", ...times, base, "sum(cpus)"])).toEqual([0, "{} =>\n1 @[60]\n+Inf @[120]\n3 @[180]"]);
  });

  test("asks for series and labels", async () => {
    const times = ["--start=0", "--end=200"];
    const [status, output] = await promtool(["query", "series", '--match=cpus{zone!="y"}', '--match={host="a"}', ...times, base]);
    const series = ['{__name__="cpus", host="a", zone="x"}', '{__name__="cpus", host="b"}'];
    expect([status, output.split("\n").toSorted()]).toEqual([0, series]);
    expect(await promtool(["query", "labels", ...times, base, "host"])).toEqual([0, "a\nb"]);
    expect(await promtool(["query", "labels", ...times, base, "__name__"])).toEqual([0, "cpus"]);
  });

  test("tells what is wrong", async () => {
    const [status, output] = await promtool(["query", "instant", base, "sum("]);
    expect([status, output]).toEqual([
      1,
      expect.stringContaining('bad_data: invalid parameter "query": 1:5: parse error: unclosed left parenthesis'),
    ]);
    const [other, failed] = await promtool(["query", "instant", "--time=120", base, "cpus + on () cpus"]);
    expect([other, failed]).toEqual([1, expect.stringContaining("execution: found duplicate series for the match group {}")]);
  });

  test("finds nothing in /metrics but names that the contract, or Node, gives", async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const [status, output] = await promtool(["check", "metrics"], metrics);
    expect([0, 3]).toContain(status); // 3: lint
    const found = output
      .split("\n")
      .filter((line) => !/^(?:greptime|nodejs|process)_\w+ .*(?:counter|histogram|summary).* should/.test(line));
    expect(found.filter((line) => line !== "")).toEqual([]);
  });
});
