/**
 * Measures both wire protocols beside the real servers: a large result, point queries, connections at rest, rows coming in. The servers
 * are loaded with the same rows, and each measurement takes them in turn, a run at a time, so that what else the machine does meets all.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProcess, resetPeakMemory, waitUntilIdle } from "../process-meter.ts";
import type { Progress } from "../progress.ts";
import { table } from "../report.ts";
import { median, spread } from "../statistics.ts";
import type { Target } from "../target.ts";
import { startPeer } from "./wire-peers.ts";
import { startClient, runClient } from "./wire-process.ts";
import type { WireAddress, WireName, WirePlan, WireReport } from "./wire-plan.ts";

/** What to measure. */
export interface WiresBench {
  readonly target: Target;
  readonly rows: number;
  readonly runs: number;
  /** Whether a run before them is not counted: the first ones of a process wait for the compiler. */
  readonly warmsUp: boolean;
  readonly withPeers: boolean;
  /** Parts of names of measurements; empty: all. */
  readonly only: readonly string[];
  /** Clients of point queries, and connections at rest. */
  readonly clients: number;
  readonly idleClients: number;
  /** Of point queries, each time. */
  readonly seconds: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

/** A server as one of its protocols shows it. */
interface Endpoint {
  readonly name: string;
  readonly address: WireAddress;
  readonly pid: number;
  readonly isVarve: boolean;
}

/** Something that is measured. */
interface Measurement {
  readonly name: string;
  readonly unit: "rows/s" | "queries/s";
  /** Undefined: not with this protocol. */
  plan(endpoint: Endpoint): WirePlan | undefined;
  /** Statements before and after it, unmeasured. */
  readonly before?: (endpoint: Endpoint) => readonly string[];
  readonly after?: readonly string[];
}

/** One run of one measurement. */
interface Reading {
  readonly report: WireReport;
  /** How far resident memory rose above where it was. */
  readonly grownBytes: number;
}

const MIB = 2 ** 20;
const ROWS_PER_INSERT = 1000;
const INSERTING_CLIENTS = 4;
const TABLE = "readings";
const FRESH = "coming";
const SELECT = `SELECT host, ts, value, total, state FROM ${TABLE}`;

function measurements({ rows, clients, seconds }: WiresBench): readonly Measurement[] {
  const rowsPerInsert = Math.min(ROWS_PER_INSERT, rows);
  const fresh = { before: (endpoint: Endpoint) => [createTable(endpoint, FRESH)], after: [`DROP TABLE ${FRESH}`] };
  const point = { kind: "points", table: TABLE, rows, clients, seconds } as const;
  return [
    { name: "select, text", unit: "rows/s", plan: () => ({ kind: "select", text: SELECT, form: "text" }) },
    { name: "select, binary", unit: "rows/s", plan: () => ({ kind: "select", text: SELECT, form: "binary" }) },
    { name: "select, by a driver", unit: "rows/s", plan: () => ({ kind: "select", text: SELECT, form: "driver" }) },
    { name: "points, text", unit: "queries/s", plan: () => ({ ...point, isPrepared: false }) },
    { name: "points, prepared", unit: "queries/s", plan: () => ({ ...point, isPrepared: true }) },
    {
      name: "copy",
      unit: "rows/s",
      ...fresh,
      plan: ({ address }) => (address.wire === "postgres" ? { kind: "copy", statement: `COPY ${FRESH} FROM STDIN`, rows } : undefined),
    },
    ...[1, INSERTING_CLIENTS].map(
      (inserting): Measurement => ({
        name: `insert of ${rowsPerInsert}, prepared, ${inserting} connection${inserting === 1 ? "" : "s"}`,
        unit: "rows/s",
        ...fresh,
        plan: () => ({ kind: "insert", table: FRESH, rows: Math.ceil(rows / 4), rowsPerInsert, clients: inserting }),
      }),
    ),
  ];
}

/** Measures, and returns the text of the result. @throws Error when a server refuses, or shows fewer rows than it has */
export async function runWires(bench: WiresBench): Promise<string> {
  const { target, rows, withPeers, progress, workDirectory } = bench;
  const running = await target.start(join(workDirectory, "wires"));
  const { wirePorts } = running;
  if (wirePorts === undefined) throw new Error(`${target.name} does not say where it speaks MySQL and PostgreSQL`);
  const own = (wire: WireName): Endpoint => {
    const address = { wire, port: wirePorts[wire], user: "root", database: "public" };
    return { name: target.name, address, pid: running.server.pid, isVarve: true };
  };
  const wires: readonly WireName[] = ["postgres", "mysql"];
  const peersDirectory = await mkdtemp(join(tmpdir(), "varve-wires-")); // The user that they run as has to get in.
  await chmod(peersDirectory, 0o755);
  try {
    const peers = withPeers ? await Promise.all(wires.map(async (wire) => await startPeer(wire, peersDirectory))) : [];
    const others = peers.flatMap((peer): readonly Endpoint[] =>
      "missing" in peer ? [] : [{ name: peer.name, address: peer.address, pid: peer.server.pid, isVarve: false }],
    );
    const ends = wires.flatMap((wire) => [own(wire), ...others.filter(({ address }) => address.wire === wire)]);
    for (const endpoint of [own("postgres"), ...others]) {
      progress(`${rows} rows into ${endpoint.name}`);
      await loadTable(endpoint, rows);
    }
    progress(`waiting until ${target.name} rests, a minute at most`);
    await waitUntilIdle(running.server.pid);
    const readings = await measureAll(bench, ends);
    const idle = bench.only.length === 0 || isChosen("idle", bench.only) ? await measureIdle(bench, wires.map(own)) : [];
    for (const peer of peers) if (!("missing" in peer)) await peer.server.stop();
    await running.server.stop();
    const missing = peers.flatMap((peer) => ("missing" in peer ? [peer.missing] : []));
    return wiresText(bench, ends, readings, idle, missing);
  } finally {
    await rm(peersDirectory, { recursive: true });
  }
}

function isChosen(name: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((part) => name.includes(part));
}

type Readings = ReadonlyMap<Measurement, ReadonlyMap<Endpoint, readonly Reading[]>>;

async function measureAll(bench: WiresBench, ends: readonly Endpoint[]): Promise<Readings> {
  const found = new Map<Measurement, Map<Endpoint, Reading[]>>();
  for (const measurement of measurements(bench)) {
    if (!isChosen(measurement.name, bench.only)) continue;
    const of = new Map<Endpoint, Reading[]>();
    found.set(measurement, of);
    for (let run = bench.warmsUp ? 0 : 1; run <= bench.runs; run++) {
      for (const endpoint of ends) {
        const plan = measurement.plan(endpoint);
        if (plan === undefined) continue;
        bench.progress(`${measurement.name}, ${endpoint.name} ${endpoint.address.wire}, ${run === 0 ? "warming up" : `run ${run}`}`);
        const reading = await measureOne(measurement, endpoint, plan, bench);
        if (run > 0) of.set(endpoint, [...(of.get(endpoint) ?? []), reading]);
      }
    }
  }
  return found;
}

async function measureOne({ before, after }: Measurement, endpoint: Endpoint, plan: WirePlan, { rows }: WiresBench): Promise<Reading> {
  const { address, pid } = endpoint;
  if (before !== undefined) await runClient(address, { kind: "run", texts: before(endpoint) });
  const rssBytes = readProcess(pid).rssBytes;
  resetPeakMemory(pid);
  const report = await runClient(address, plan);
  const grownBytes = readProcess(pid).rssBytesPeak - rssBytes;
  if (plan.kind === "select" && report.count !== rows) throw new Error(`${endpoint.name} showed ${report.count} of ${rows} rows`);
  if (plan.kind === "copy" || plan.kind === "insert") await expectRows(endpoint, FRESH, plan.rows);
  if (after !== undefined) await runClient(address, { kind: "run", texts: after });
  return { report, grownBytes };
}

/** Counts rows by taking them: no driver stands between. */
async function expectRows({ name, address }: Endpoint, tableName: string, want: number): Promise<void> {
  const { count } = await runClient(address, { kind: "select", text: `SELECT state FROM ${tableName}`, form: "text" });
  if (count !== want) throw new Error(`${name} has ${count} of ${want} rows of ${tableName} over ${address.wire}`);
}

interface IdleReading {
  readonly endpoint: Endpoint;
  readonly grownBytes: number;
}

async function measureIdle({ idleClients, progress }: WiresBench, ends: readonly Endpoint[]): Promise<readonly IdleReading[]> {
  const found: IdleReading[] = [];
  for (const endpoint of ends) {
    progress(`${idleClients} connections at rest, ${endpoint.address.wire}`);
    const { rssBytes } = readProcess(endpoint.pid);
    const client = await startClient(endpoint.address, { kind: "idle", clients: idleClients });
    await waitUntilIdle(endpoint.pid);
    found.push({ endpoint, grownBytes: readProcess(endpoint.pid).rssBytes - rssBytes });
    await client.stop();
  }
  return found;
}

async function loadTable(endpoint: Endpoint, rows: number): Promise<void> {
  const { address, isVarve } = endpoint;
  await runClient(address, { kind: "run", texts: [createTable(endpoint, TABLE)] });
  await runClient(address, { kind: "load", table: TABLE, rows, rowsPerInsert: ROWS_PER_INSERT });
  await expectRows(endpoint, TABLE, rows);
  const settle = isVarve ? [`ADMIN flush_table('${TABLE}')`] : address.wire === "postgres" ? [`VACUUM ANALYZE ${TABLE}`] : [];
  await runClient(address, { kind: "run", texts: settle });
}

function createTable({ address, isVarve }: Endpoint, name: string): string {
  if (isVarve) {
    const columns = "host STRING, ts TIMESTAMP(3) TIME INDEX, value DOUBLE, total BIGINT, state INT";
    return `CREATE TABLE ${name} (${columns}, PRIMARY KEY (host))`;
  }
  const time = address.wire === "postgres" ? "TIMESTAMP(3)" : "DATETIME(3)";
  return `CREATE TABLE ${name} (host VARCHAR(32), ts ${time}, value DOUBLE PRECISION, total BIGINT, state INT, PRIMARY KEY (host, ts))`;
}

function wiresText(
  { rows, clients, idleClients, runs }: WiresBench,
  ends: readonly Endpoint[],
  readings: Readings,
  idle: readonly IdleReading[],
  missing: readonly string[],
): string {
  const rate = ({ report }: Reading): number => report.count / report.seconds;
  const lines = [...readings].flatMap(([{ name, unit }, of]) =>
    [...of].map(([endpoint, list]) => {
      const own = ends.find(({ isVarve, address }) => isVarve && address.wire === endpoint.address.wire);
      const ownRates = own === undefined || endpoint.isVarve ? [] : (of.get(own) ?? []).map(rate);
      const rates = list.map(rate);
      const ms = list.some(({ report }) => report.msP50 > 0);
      return [
        name,
        endpoint.address.wire,
        endpoint.name,
        `${Math.round(median(rates)).toLocaleString("en-US")} ${unit}`,
        `±${(spread(rates) * 100).toFixed(0)} %`,
        ownRates.length === 0 ? "–" : median(rates.map((each, i) => (ownRates[i] ?? Number.NaN) / each)).toFixed(2),
        ms ? median(list.map(({ report }) => report.msP50)).toFixed(2) : "–",
        ms ? median(list.map(({ report }) => report.msP99)).toFixed(2) : "–",
        endpoint.isVarve ? (Math.max(...list.map(({ grownBytes }) => grownBytes)) / MIB).toFixed(0) : "–",
      ];
    }),
  );
  const heads = ["what", "protocol", "server", "median", "spread", "Varve ÷ it", "p50 ms", "p99 ms", "RSS +MiB"];
  const rest = idle.map(({ endpoint, grownBytes }) => {
    const { wire } = endpoint.address;
    return `${idleClients.toLocaleString("en-US")} connections at rest over ${wire}: ${(grownBytes / MIB).toFixed(0)} MiB more.\n`;
  });
  const many = `${runs} run${runs === 1 ? "" : "s"}`;
  return `## Wire protocols

${rows.toLocaleString("en-US")} rows of 5 columns (text, timestamp, double, bigint, int), a quarter of them for INSERT; point queries of
${clients} connections; ${many} of each after one that is not counted, the servers in turn, all on this machine. Clients are processes
that count rows by hand; "by a driver" is pg and mysql2. Every server syncs what it acknowledges. "RSS +MiB" is how far Varve's resident
memory rose at most above where it was before.

${table(heads, lines)}
${[...rest, ...missing.map((sentence) => `${sentence}.\n`)].join("\n")}`;
}
