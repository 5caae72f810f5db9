/** The whole benchmark runs, small: real processes, real requests, results compared with DuckDB. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findGateway } from "./macro/s3-gateway.ts";
import { findBenchmarks } from "./micro/run.ts";

const TEST_MS_MAX = 120_000;

interface Run {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

/** At a time: benchmarks wait until their servers rest, and a smoke run's figures mean nothing. */
const PARALLEL_MAX = 3;

async function run(args: readonly string[]): Promise<Run> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "main.ts"), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, output, errors };
}

/** `bun run test:bench` runs every benchmark; the gate those that start each kind of loader, reader and peer. */
const isWhole = process.env["VARVE_BENCH"] === "1";
const SHORT: ReadonlySet<string> = new Set(["--smoke", "heavy", "clients"]);
const whole = test.skipIf(!isWhole);

/** Begun with the first test that asks for one of them, longest first. */
const ALL_RUNS: readonly (readonly string[])[] = [
  ["--smoke"],
  ["grpc", "--smoke"],
  ["tables", "--smoke"],
  ["series-churn", "--smoke", "--threads", "2"],
  ["series", "--smoke"],
  ["columns", "--smoke"],
  ["memory", "--smoke"],
  ["heavy", "--smoke", "--memory", "512MiB", "--only", "group,join,like,arrow"],
  ["clickbench", "--smoke"],
  ["replay", "--smoke"],
  ["s3", "--smoke"],
  ["clients", "--smoke", "--protocol", "postgres"],
  ["wires", "--smoke"],
  ["promql", "--smoke"],
  ["dashboards", "--smoke"],
  ["remote-write", "--smoke", "--version", "2"],
  ["remote-write", "--smoke", "--minutes", "0.5", "--hosts", "2", "--fast"],
];
const RUNS = ALL_RUNS.filter(([command = ""]) => (isWhole && (command !== "s3" || findGateway() !== undefined)) || SHORT.has(command));
const begun = new Map<string, Promise<Run>>();

function begin(): void {
  const waiting = RUNS.map((args) => ({ args, done: Promise.withResolvers<Run>() }));
  for (const { args, done } of waiting) begun.set(args.join(" "), done.promise);
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { done } = next;
      await run(next.args).then(done.resolve, done.reject);
    }
  };
  for (let i = 0; i < PARALLEL_MAX; i++) void lane(); // Failures are each run's own.
}

async function bench(...args: string[]): Promise<Run> {
  if (!RUNS.some((each) => each.join(" ") === args.join(" "))) return await run(args);
  if (begun.size === 0) begin();
  return (await begun.get(args.join(" "))) ?? (await run(args));
}

test(
  "measures ingest and all queries of a small data set, with the right results",
  async () => {
    const { status, output, errors } = await bench("--smoke");
    expect(status, errors).toBe(0);
    expect(output).toContain("20,000 rows");
    expect(output.match(/^\| Varve/gm)).toHaveLength(2);
    expect(output.match(/^\| bare Bun\.serve sink/gm)).toHaveLength(2);
    expect(output).toMatch(/^\| lastpoint .*\| +100 \|/m);
  },
  TEST_MS_MAX,
);

test(
  "measures point queries beside ingest, and finds every row again",
  async () => {
    const { status, output, errors } = await bench("clients", "--smoke", "--protocol", "postgres");
    expect(status, errors).toBe(0);
    expect(output).toContain("over PostgreSQL's protocol");
    expect(output).toContain("each query after the last answer");
  },
  TEST_MS_MAX,
);

whole(
  "measures both wire protocols, and finds every row again",
  async () => {
    const { status, output, errors } = await bench("wires", "--smoke");
    expect(status, errors).toBe(0);
    expect(output.match(/^\| (?:select|points|insert).* \| mysql +\| Varve/gm)).toHaveLength(7);
    expect(output).toMatch(/^\| copy +\| postgres +\| Varve/m);
    expect(output).toContain("connections at rest over mysql");
  },
  TEST_MS_MAX,
);

whole(
  "measures gRPC, and finds every row again",
  async () => {
    const { status, output, errors } = await bench("grpc", "--smoke");
    expect(status, errors).toBe(0);
    expect(output.match(/^\| (?:transport|rows|columns|rows-stream|doput|doput-text|doget|doget, not compressed) +\| /gm)).toHaveLength(8);
    expect(output.match(/^\| otlp-(?:metrics|logs|traces)(?: over HTTP)? +\| /gm)).toHaveLength(6);
  },
  TEST_MS_MAX,
);

whole(
  "measures dashboards beside remote write",
  async () => {
    const { status, output, errors } = await bench("dashboards", "--smoke");
    expect(status, errors).toBe(0);
    expect(output).toMatch(/^\| dashboards +\|/m);
  },
  TEST_MS_MAX,
);

whole(
  "measures PromQL, every query of which has an answer",
  async () => {
    const { status, output, errors } = await bench("promql", "--smoke");
    expect(status, errors).toBe(0);
    expect(output).toMatch(/^\| label values of 100,000 series +\| +1,000 \|/m);
  },
  TEST_MS_MAX,
);

whole(
  "measures starts and replay, and finds every row again",
  async () => {
    const { status, output, errors } = await bench("replay", "--smoke");
    expect(status, errors).toBe(0);
    expect(output).toContain("ready after SIGKILL");
  },
  TEST_MS_MAX,
);

test.skipIf(!isWhole || findGateway() === undefined)(
  "measures queries over an S3 store, with the right results",
  async () => {
    const { status, output, errors } = await bench("s3", "--smoke");
    expect(status, errors).toBe(0);
    expect(output).toMatch(/^\| lastpoint +\| +[\d.]+ \|/m);
  },
  TEST_MS_MAX,
);

whole.each([
  ["series", "one series, all tags given, rows in files"],
  ["tables", "flush of all tables, s"],
  ["columns", "3 columns of 1 series in files"],
])(
  "measures many %s, and finds every row again",
  async (command, figure) => {
    const { status, output, errors } = await bench(command, "--smoke");
    expect(status, errors).toBe(0);
    expect(output).toContain(figure);
  },
  TEST_MS_MAX,
);

whole.each([
  [["--version", "2"], "8,000 samples of 4,000 series"],
  [["--minutes", "0.5", "--hosts", "2", "--fast"], "B a sample"],
])(
  "measures remote write %p, and finds every sample again",
  async (args, figure) => {
    const { status, output, errors } = await bench("remote-write", "--smoke", ...args);
    expect(status, errors).toBe(0);
    expect(output).toContain(figure);
  },
  TEST_MS_MAX,
);

whole.each([
  ["series-churn", ["--threads", "2"], /series held \| .*\| flat \|/],
  ["memory", [], /Most resident memory: .* of the limit/],
] as const)(
  "measures %s, and finds every row again",
  async (command, args, figure) => {
    const { status, output, errors } = await bench(command, "--smoke", ...args);
    expect(status, errors).toBe(0);
    expect(output).toMatch(figure);
  },
  TEST_MS_MAX,
);

test.each([
  ["heavy", ["--memory", "512MiB", "--only", "group,join,like,arrow"], /^\| large answer as arrow .*\| right \|$/gm, 2],
  ...(isWhole ? ([["clickbench", [], /^\| q\d\d .*\| right \|$/gm, 43]] as const) : []),
] as const)(
  "measures %s beside DuckDB, and every answer is right",
  async (command, args, line, count) => {
    const { status, output, errors } = await bench(command, "--smoke", ...args);
    expect(status, output + errors).toBe(0);
    expect(output.slice(output.indexOf("# Varve")).match(line)).toHaveLength(count);
    expect(output).toContain("All answers are right.");
  },
  TEST_MS_MAX,
);

test("explains itself, and refuses what it does not know", async () => {
  const help = await bench("--help");
  expect(help.status).toBe(0);
  expect(help.output).toContain("bun bench --smoke");
  const wrong = await bench("--rwos", "5");
  expect(wrong.status).toBe(2);
  expect(wrong.errors).toContain("bun bench --help");
});

test("finds benchmarks by parts of their path", () => {
  const all = findBenchmarks([]);
  expect(all.length).toBeGreaterThan(0);
  expect(findBenchmarks(["decode", "influx"])).toEqual(["src/ingest/influx/decode.bench.ts"]);
  expect(findBenchmarks(["no such thing"])).toEqual([]);
});
