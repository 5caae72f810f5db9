/**
 * Measures gRPC: a fresh Varve a run, all messages acknowledged from the disk, every row counted; the bare transport beside them, and OTLP
 * over HTTP/1.1. Answers of Arrow Flight come from one store, which is loaded and flushed once.
 */
import { join } from "node:path";
import { runProgram } from "../child.ts";
import { type Dataset, TABLE } from "../dataset.ts";
import { resetPeakMemory } from "../process-meter.ts";
import type { Progress } from "../progress.ts";
import { sqlNumber, sqlTable } from "../sql-client.ts";
import type { RunningTarget, Target } from "../target.ts";
import { CREATE_TABLE, SUMMED_FIELD } from "./flight-bodies.ts";
import type { LoadPlan, LoadReport } from "./load-plan.ts";
import { GRPC_CASES, type GrpcCase, type GrpcWorkload } from "./workloads.ts";

/** What to measure. */
export interface GrpcPlan {
  /** Varve with further settings, `section.key` to TOML text; those that the user gave go first. */
  readonly target: (settings: ReadonlyMap<string, string>) => Target;
  readonly workloads: readonly GrpcWorkload[];
  readonly rows: number;
  /** Hosts, seed and start of what goes over Arrow Flight. */
  readonly dataset: Dataset;
  readonly runs: number;
  /** Each load once, on its fewest connections. */
  readonly isSmoke: boolean;
  readonly workDirectory: string;
  readonly progress: Progress;
}

/** A run of a case. */
export interface GrpcResult extends LoadReport {
  readonly of: GrpcCase;
  readonly run: number;
}

/** Five columns of all rows. */
const GET_SQL = `SELECT ts, hostname, usage_user, usage_system, usage_idle FROM ${TABLE}`;
/** Statements that the server rehearses after its start would run beside what is measured: 0.7 s of processor time. */
const NO_REHEARSAL: ReadonlyMap<string, string> = new Map([["query.rehearsal", "false"]]);
/** Queries of a run of doget, beside those that warm it up. */
const QUERIES = 2;

/** Measures every case in each run. @throws Error when a call fails or a row is missing */
export async function runGrpc(plan: GrpcPlan): Promise<readonly GrpcResult[]> {
  const results: GrpcResult[] = [];
  const store = plan.workloads.includes("doget") ? await loadStore(plan) : undefined;
  for (let run = 1; run <= plan.runs; run++) {
    for (const of of casesOf(plan)) {
      plan.progress(`gRPC run ${run} of ${plan.runs}: ${of.name}, ${of.connections} connections`);
      const report = of.load === "doget" && store !== undefined ? await oneGet(plan, of, store) : await oneRun(plan, of, run);
      results.push({ ...report, of, run });
    }
  }
  return results;
}

function casesOf({ workloads, isSmoke }: GrpcPlan): readonly GrpcCase[] {
  const cases = workloads.flatMap((name) => GRPC_CASES[name]);
  return isSmoke ? cases.filter(({ name }, i) => cases.findIndex((other) => other.name === name) === i) : cases;
}

function load(plan: GrpcPlan, of: GrpcCase, { server, baseUrl, wirePorts }: RunningTarget, rows: number): Promise<LoadReport> {
  const port = of.load.endsWith("-http") ? Number(new URL(baseUrl).port) : (wirePorts?.grpc ?? 0);
  const { load: name, connections } = of;
  const rowsPerMessage = Math.min(of.rowsPerMessage, rows);
  const shape = { load: name, port, serverPid: server.pid, rows, rowsPerMessage, connections, dataset: plan.dataset };
  const told: LoadPlan = { ...shape, sql: GET_SQL, queries: QUERIES };
  return runProgram<LoadReport>(new URL("./loader.ts", import.meta.url), [JSON.stringify(told)]);
}

async function oneRun(plan: GrpcPlan, of: GrpcCase, run: number): Promise<LoadReport> {
  const directory = join(plan.workDirectory, `${of.load}-${of.connections}-${run}`);
  const running = await plan.target(NO_REHEARSAL).start(directory);
  if (of.load.startsWith("doput")) await sqlTable(running.baseUrl, CREATE_TABLE);
  const report = await load(plan, of, running, Math.ceil(plan.rows * of.share));
  await expectStored(running, of, report);
  await running.server.stop();
  return report;
}

/** @throws Error when not every row is there, or another sum */
async function expectStored({ baseUrl }: RunningTarget, { name, table }: GrpcCase, { rowsStored, sum }: LoadReport): Promise<void> {
  if (table === undefined) return;
  const stored = await sqlNumber(baseUrl, `SELECT count(*) FROM ${table}`);
  if (stored !== rowsStored) throw new Error(`gRPC ${name}: ${stored} rows are there of ${rowsStored}`);
  if (table !== TABLE) return;
  const summed = await sqlNumber(baseUrl, `SELECT sum(${SUMMED_FIELD}) FROM ${table}`);
  if (summed !== sum) throw new Error(`gRPC ${name}: the sum of ${SUMMED_FIELD} is ${summed}, not ${sum}`);
}

/** What doget asks: where it is, and how many rows it has. */
interface Store {
  readonly directory: string;
  readonly rows: number;
}

async function loadStore(plan: GrpcPlan): Promise<Store> {
  plan.progress("gRPC: rows for doget");
  const [of] = GRPC_CASES.doput;
  const [get] = GRPC_CASES.doget;
  if (of === undefined || get === undefined) throw new Error("cannot load rows for doget: there is no doput");
  const directory = join(plan.workDirectory, "doget");
  const running = await plan.target(NO_REHEARSAL).start(directory);
  await sqlTable(running.baseUrl, CREATE_TABLE);
  const report = await load(plan, of, running, Math.ceil(plan.rows * get.share));
  await expectStored(running, of, report);
  await running.flush();
  await running.server.stop();
  return { directory, rows: report.rowsStored };
}

async function oneGet(plan: GrpcPlan, of: GrpcCase, { directory, rows }: Store): Promise<LoadReport> {
  const { compression } = of;
  const settings = new Map(NO_REHEARSAL);
  if (compression !== undefined) settings.set("grpc.flight_compression", `"${compression}"`);
  const running = await plan.target(settings).start(directory);
  resetPeakMemory(running.server.pid);
  const report = await load(plan, of, running, rows);
  await running.server.stop();
  return report;
}
