/**
 * Rows a second of the line-protocol decoder, in process, on one thread: `bun src/ingest/influx/decode.bench.ts`.
 *
 * "cold" starts each request with a new decoder, which has no guesses and no series yet; "warm" keeps one, as the server does.
 * Each case prints a hash of its decoded rows, so that a faster decoder that decodes something else shows.
 */
import { measure } from "mitata";
import { lineOf, pointsOf } from "../../../test/support/influx/points.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { type DecodeOptions, InfluxDecoder } from "./decode.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const LINES: number = SMALL ? 200 : 10_000;
/** Requests of one case, with different rows of the same series. */
const BODIES = 4;

const OPTIONS: DecodeOptions = {
  database: "public",
  precision: "ns",
  defaultTimeNanos: 0n,
  schemas: { columnOf: () => undefined },
  timeColumn: "greptime_timestamp",
};

/** A linear congruential generator: the same rows in every run. */
class Random {
  private state = 42;

  /** A whole number 0..limit-1. */
  below(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * limit);
  }
}

const random = new Random();
const CPU_FIELDS: readonly string[] = ["user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

function hostTags(host: number): string {
  const region = ["eu-central-1", "us-west-1", "sa-east-1", "ap-northeast-1"][host % 4] ?? "";
  const place = `hostname=host_${host},region=${region},datacenter=${region}a,rack=${host % 97},os=Ubuntu16.04LTS,arch=x86`;
  return `${place},team=NYC,service=${host % 20},service_version=1,service_environment=production`;
}

/** Seconds since 1970 of a line: all hosts report, then time moves on. */
function timeOf(body: number, line: number, hosts: number): string {
  return `${1_686_441_600 + Math.floor((body * LINES + line) / hosts) * 10}000000000`;
}

function bodiesOf(lineAt: (body: number, line: number) => string): readonly Uint8Array[] {
  return Array.from({ length: BODIES }, (_, body) => {
    return new TextEncoder().encode(Array.from({ length: LINES }, (_line, line) => `${lineAt(body, line)}\n`).join(""));
  });
}

function cpuFields(): readonly string[] {
  return CPU_FIELDS.map((name) => `usage_${name}=${random.below(101)}i`);
}

function shuffled(list: readonly string[]): readonly string[] {
  const result = [...list];
  for (let i = result.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [result[i], result[j]] = [result[j] ?? "", result[i] ?? ""];
  }
  return result;
}

const HOSTS = 4000;
const host = (body: number, line: number): number => (body * LINES + line) % HOSTS;

const CASES: readonly (readonly [name: string, lineAt: (body: number, line: number) => string])[] = [
  ["cpu rows, 10 tags, 10 integers", (b, l) => `cpu,${hostTags(host(b, l))} ${cpuFields().join(",")} ${timeOf(b, l, HOSTS)}`],
  ["cpu rows, series in random order", (b, l) => `cpu,${hostTags(random.below(HOSTS))} ${cpuFields().join(",")} ${timeOf(b, l, HOSTS)}`],
  ["cpu rows, fields shuffled", (b, l) => `cpu,${hostTags(host(b, l))} ${shuffled(cpuFields()).join(",")} ${timeOf(b, l, HOSTS)}`],
  ["cpu rows, time differs on every line", (b, l) => `cpu,${hostTags(host(b, l))} ${cpuFields().join(",")} ${timeOf(b, l, 1)}`],
  [
    "3 of 100 fields",
    (b, l) => {
      const fields = Array.from({ length: 3 }, (_, i) => `field_${i * 33 + random.below(33)}=${random.below(1000)}i`);
      return `sparse,host=host_${host(b, l)} ${fields.join(",")} ${timeOf(b, l, HOSTS)}`;
    },
  ],
  ["1 of 1,000 fields", (b, l) => `wide,host=host_${host(b, l)} field_${random.below(1000)}=${random.below(1000)}i ${timeOf(b, l, HOSTS)}`],
  [
    "1,000 measurements",
    (b, l) => `metric_${l % 1000},host=host_${Math.floor(l / 1000)} value=${random.below(1e6)}i ${timeOf(b, l, 1000)}`,
  ],
  [
    "agent floats",
    (b, l) => {
      const fields = CPU_FIELDS.map((name) => `usage_${name}=${random.below(100_000) / 997}`);
      return `cpu,cpu=cpu${l % 16},host=host_${Math.floor(l / 16) % 100} ${fields.join(",")} ${timeOf(b, l, 1600)}`;
    },
  ],
  ["one short float", (b, l) => `temperature,sensor=s${l % 1000} value=${random.below(10_000) / 100} ${timeOf(b, l, 1000)}`],
  ["log text", (b, l) => `logs,host=host_${l % 50} level="info",message="request ${l} took ${random.below(900)} ms, é" ${timeOf(b, l, 1)}`],
  ["every line bad", (b, l) => `cpu,${hostTags(host(b, l))} usage_user=x ${timeOf(b, l, HOSTS)}`],
];

/** A hash of all decoded rows and of the number of bad lines. */
function hashOf(bodies: readonly Uint8Array[]): string {
  const decoder = new InfluxDecoder();
  let hash = 0;
  for (const body of bodies) {
    const { batch, errorCount } = decoder.decode(body, OPTIONS);
    hash = crc32(new TextEncoder().encode(`${errorCount}${pointsOf(batch).map(lineOf).join("\n")}`), hash);
  }
  return hash.toString(16).padStart(8, "0");
}

/** Million lines a second of one pass over all bodies. */
async function rateOf(decode: (body: Uint8Array) => number, bodies: readonly Uint8Array[]): Promise<string> {
  const pass = (): number => bodies.reduce((sum, body) => sum + decode(body), 0);
  const { p50 } = await measure(pass, { min_cpu_time: 400e6, warmup_samples: 10 });
  return `${((LINES * BODIES * 1e3) / p50).toFixed(2)}M/s`.padStart(9);
}

process.stdout.write(
  `${"lines a second, median".padEnd(40)}${"warm".padStart(9)}${"cold".padStart(9)}${"bytes".padStart(7)}  hash of the rows\n`,
);
for (const [name, lineAt] of CASES) {
  const bodies = bodiesOf(lineAt);
  const bytes = Math.round(bodies.reduce((sum, body) => sum + body.length, 0) / (LINES * BODIES));
  const kept = new InfluxDecoder();
  const warm = await rateOf((body) => kept.decode(body, OPTIONS).lineCount, bodies);
  const cold = await rateOf((body) => new InfluxDecoder().decode(body, OPTIONS).lineCount, bodies);
  process.stdout.write(`${name.padEnd(40)}${warm}${cold}${String(bytes).padStart(7)}  ${hashOf(bodies)}\n`);
}
