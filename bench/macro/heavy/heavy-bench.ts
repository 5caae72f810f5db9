/** Heavy queries beside DuckDB, and the same queries under a limit of memory: everything finishes, is right, and how long it takes. */
import { varveTarget } from "../target.ts";
import { DUCKDB_THREADS, DuckdbSession } from "./duckdb-session.ts";
import type { HeavyTable } from "./heavy-data.ts";
import type { HeavyQuery } from "./heavy-query.ts";
import { duckdbPath, loadHeavyStore } from "./heavy-store.ts";
import { runPaired, type PairedResult } from "./paired.ts";
import { failuresOf, LIMITED_HEAD, limitedLine, PAIRED_HEAD, pairedLine, pairedSummary } from "./paired-report.ts";

/** What to measure. */
export interface HeavyPlan {
  /** What the report calls it. */
  readonly title: string;
  /** Holds the store, or will. */
  readonly directory: string;
  readonly tables: readonly HeavyTable[];
  readonly queries: readonly HeavyQuery[];
  /** Parts of names of queries; empty: all. */
  readonly only: readonly string[];
  readonly runs: number;
  /** As `memory.limit` takes it; undefined: only without a limit. */
  readonly limit: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly print: (line: string) => void;
}

/** A report, and which queries have no right answer. */
export interface HeavyReport {
  readonly text: string;
  readonly failures: readonly string[];
}

/** Loads what is not there yet and runs everything. @throws Error when the server dies */
export async function runHeavy(plan: HeavyPlan): Promise<HeavyReport> {
  await loadHeavyStore(plan.directory, plan.tables, plan.print);
  const duckdb = await DuckdbSession.open(duckdbPath(plan.directory));
  try {
    const free = await runAll(plan, duckdb);
    const rows = plan.tables.map(({ name, rows: count }) => `${count} of ${name}`).join(", ");
    const head = `## ${plan.title}: rows ${rows}; DuckDB with ${DUCKDB_THREADS} threads`;
    const text = [head, "", PAIRED_HEAD, ...free.map(pairedLine), "", pairedSummary(free)].join("\n");
    if (plan.limit === undefined) return { text, failures: failuresOf(free) };
    const limited = await runLimited(plan, plan.limit, duckdb, free);
    return { text: `${text}\n${limited.text}`, failures: [...failuresOf(free), ...limited.failures] };
  } finally {
    duckdb.close();
  }
}

function chosen({ queries, only }: HeavyPlan): readonly HeavyQuery[] {
  const isWanted = ({ name }: HeavyQuery): boolean => only.length === 0 || only.some((part) => name.toLowerCase().includes(part));
  return queries.filter(isWanted);
}

async function runAll(plan: HeavyPlan, duckdb: DuckdbSession): Promise<readonly PairedResult[]> {
  const { directory, runs, settings, print } = plan;
  const running = await varveTarget("always", settings).start(directory);
  const results: PairedResult[] = [];
  try {
    print(PAIRED_HEAD);
    for (const query of chosen(plan)) {
      const result = await runPaired({ running, duckdb, runs, timesDuckdb: true, directory }, query);
      results.push(result);
      print(pairedLine(result));
    }
  } finally {
    if (running.server.isRunning()) await running.server.stop();
  }
  return results;
}

async function runLimited(plan: HeavyPlan, limit: string, duckdb: DuckdbSession, free: readonly PairedResult[]): Promise<HeavyReport> {
  const { directory, runs, settings, print } = plan;
  const target = varveTarget("always", new Map([...settings, ["memory.limit", JSON.stringify(limit)]]));
  const running = await target.start(directory);
  const results: PairedResult[] = [];
  const lines: string[] = [];
  try {
    const limitBytes = await limitOf(running.baseUrl);
    print(LIMITED_HEAD);
    for (const query of chosen(plan)) {
      const result = await runPaired({ running, duckdb, runs, timesDuckdb: false, directory }, query);
      const line = limitedLine(
        result,
        free.find((other) => other.query === query),
        limitBytes,
      );
      results.push(result);
      lines.push(line);
      print(line);
    }
  } finally {
    if (running.server.isRunning()) await running.server.stop();
  }
  const failures = failuresOf(results).map((failure) => `memory.limit ${limit}, ${failure}`);
  const verdict = failures.length === 0 ? "All answers are right." : `${failures.length} without a right answer: ${failures.join("; ")}.`;
  return { text: [`## The same with memory.limit ${limit}`, "", LIMITED_HEAD, ...lines, "", verdict, ""].join("\n"), failures };
}

async function limitOf(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^varve_memory_limit_bytes (\S+)$/m.exec(text)?.[1]);
}
