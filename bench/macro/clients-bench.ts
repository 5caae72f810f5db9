/**
 * Measures point queries of many clients beside ingest at full rate: parts of one file are written alone and beside the clients in turn, so
 * that each rate beside them is set against those right before and after it.
 */
import { join } from "node:path";
import { type Dataset, FIELDS, TABLE, TAGS } from "./dataset.ts";
import type { Generated } from "./generator.ts";
import { loadFile, type Shape } from "./ingest-bench.ts";
import type { LoadReport } from "./loader.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { queriesFor } from "./queries.ts";
import { type ClientsPlan, type ClientsReport, startClients } from "./query-clients.ts";
import { seededRandom } from "./random.ts";
import { table } from "./report.ts";
import { percentile } from "./statistics.ts";
import type { RunningTarget, Target } from "./target.ts";
import type { WireName } from "./wires/wire-plan.ts";

/** What to measure. */
export interface ClientsBench {
  readonly target: Target;
  readonly dataset: Dataset;
  readonly input: Generated;
  readonly shape: Shape;
  readonly clients: number;
  /** What clients speak. */
  readonly protocol: "http" | WireName;
  /** How long they ask before rows are written beside them. */
  readonly warmMillis: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

interface Load {
  readonly name: string;
  /** Undefined: no clients. */
  readonly pauseMs: number | undefined;
}

const ALONE: Load = { name: "ingest alone", pauseMs: undefined };
const PACED: Load = { name: "10 queries/s a client", pauseMs: 100 };
const BUSY: Load = { name: "each query after the last answer", pauseMs: 0 };
/** The parts of the file. The first fills the store and warms the server up. */
const PARTS: readonly Load[] = [ALONE, ALONE, PACED, ALONE, BUSY, ALONE];
/** How long clients ask before rows are written, for figures that count: the first queries of a process wait for the compiler. */
export const CLIENTS_WARM_MILLIS = 3000;
/** Different queries of each of the two types. */
const QUERIES = 200;
const MIB = 2 ** 20;

/** Measures, and returns the text of the result. @throws Error when a write or a query fails */
export async function runClients(bench: ClientsBench): Promise<string> {
  const { target, dataset, input, clients, workDirectory, progress } = bench;
  const requestsMin = PARTS.length * bench.shape.connections;
  const shape = { ...bench.shape, rowsPerBatch: Math.min(bench.shape.rowsPerBatch, Math.ceil(dataset.rows / requestsMin)) };
  const running = await target.start(join(workDirectory, "clients"));
  const queries = pointQueries(dataset);
  const wire = wireOf(running, bench.protocol);
  const asked = { baseUrl: running.baseUrl, clients, together: 1, kind: "sql", queries, ...(wire && { wire }) } as const;
  const rates: number[] = [];
  const seconds: number[] = [];
  const reports: (readonly number[] | undefined)[] = [];
  for (const [index, { name, pauseMs }] of PARTS.entries()) {
    progress(`part ${index + 1} of ${PARTS.length}: ${name}`);
    const asking = pauseMs === undefined ? undefined : startClients({ ...asked, pauseMs });
    if (asking !== undefined) await Bun.sleep(bench.warmMillis);
    const load = await loadFile(running, shape, input, { index, of: PARTS.length });
    const report = await asking?.stop();
    reports.push(report === undefined ? undefined : duringLoad(report, load));
    rates.push(load.rows / load.seconds);
    seconds.push(load.seconds);
  }
  await expectRows(running, input.rows);
  const { rssBytesPeak } = readProcess(running.server.pid);
  await running.server.stop();
  const lines = PARTS.map((load, i) => {
    const beside = ((rates[i - 1] ?? Number.NaN) + (rates[i + 1] ?? Number.NaN)) / 2;
    const rate = rates[i] ?? Number.NaN;
    const report = reports[i];
    return [
      i === 0 ? `${load.name}, first` : load.name,
      Math.round(rate).toLocaleString("en-US"),
      ...(report === undefined
        ? ["–", "–", "–", "–", "–"]
        : [
            (rate / beside).toFixed(2),
            Math.round(report.length / (seconds[i] ?? Number.NaN)).toLocaleString("en-US"),
            ...[0.5, 0.99, 1].map((share) => percentile(report, share).toFixed(1)),
          ]),
    ];
  });
  return `## Point queries beside ingest

${clients} clients over ${PROTOCOL_NAMES[bench.protocol]} ask for the maximum of an hour of one host by minute and for the
last row of one host in turn, while ${shape.connections} connections write
${shape.rowsPerBatch.toLocaleString("en-US")} rows a request as fast as they can, all on this machine.
Peak RSS ${(rssBytesPeak / MIB).toFixed(0)} MiB.

${table(["beside", "rows/s", "× alone", "queries/s", "p50 ms", "p99 ms", "max ms"], lines)}`;
}

const PROTOCOL_NAMES = { http: "HTTP", mysql: "MySQL's protocol", postgres: "PostgreSQL's protocol" } as const;

/** Where the clients connect; undefined: to the server's HTTP address. @throws Error when the target does not say where it speaks it */
function wireOf({ wirePorts }: RunningTarget, protocol: ClientsBench["protocol"]): ClientsPlan["wire"] {
  if (protocol === "http") return undefined;
  if (wirePorts === undefined) throw new Error(`cannot ask over ${protocol}: the server does not say where it speaks that`);
  return { name: protocol, port: wirePorts[protocol] };
}

/** Milliseconds of the queries that were asked while rows were written. */
function duringLoad({ askedAtMs, tookMs }: ClientsReport, { startedAtMs, seconds }: LoadReport): readonly number[] {
  return tookMs.filter((_, i) => (askedAtMs[i] ?? 0) >= startedAtMs && (askedAtMs[i] ?? 0) < startedAtMs + seconds * 1000);
}

/** single-groupby-1-1-1, and the last row of one host, in turn. */
function pointQueries(dataset: Dataset): readonly string[] {
  const filled = { ...dataset, rows: Math.ceil(dataset.rows / PARTS.length) }; // Windows in what is there before the first query.
  const windows = queriesFor(filled, QUERIES).filter(({ type }) => type === "single-groupby-1-1-1");
  const random = seededRandom(dataset.seed);
  const values = [...TAGS, ...FIELDS].map((column) => `last_value(${column} ORDER BY greptime_timestamp)`).join(", ");
  return windows.flatMap(({ sql }) => [sql, `SELECT ${values} FROM ${TABLE} WHERE hostname = 'host_${random.below(dataset.hosts)}'`]);
}

async function expectRows(running: RunningTarget, want: number): Promise<void> {
  const rows = await running.countRows();
  if (rows !== want) throw new Error(`Varve lost rows beside queries: ${rows} of ${want}`);
}
