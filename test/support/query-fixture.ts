/** Runs SQL text against a memory catalog and reads answers as plain values. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { fixedClock } from "../../src/base/clock.ts";
import { type DataType, displayName, isNested } from "../../src/column/data-type.ts";
import { nestedJson } from "../../src/value/nested-json.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { Scalar } from "../../src/column/vector.ts";
import { executeStatement, type ExecOptions } from "../../src/query/execute.ts";
import { decodePlan, encodePlan } from "../../src/query/operator/contract/plan-bytes.ts";
import type { QueryWorkers } from "../../src/query/operator/contract/query-workers.ts";
import type { QueryContext } from "../../src/query/query-context.ts";
import { parseSql } from "../../src/query/sql/parse.ts";
import type { FileAccess } from "../../src/table/file-access.ts";
import { checkKnownPlans, otherConstants } from "./known-plans-check.ts";
import { localHelpers, localWorkers } from "./local-workers.ts";
import { RemoteWorkers } from "../../src/cluster/remote/remote-workers.ts";
import { catalogElsewhere, MemoryCatalog, openMemorySnapshot, REMOTE_SHARDS } from "./memory-catalog.ts";

/** An answer with all its rows. */
export interface Answer {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly Scalar[])[];
  /** Of a statement that changes rows. */
  readonly affected: number | undefined;
}

/** 2024-01-01T00:00:00Z, when the fixture's clock stands. */
export const FIXTURE_NOW: bigint = 1_704_067_200_000_000_000n;

/** A memory catalog with a context and short ways to use them. */
export class QueryFixture {
  readonly catalog: MemoryCatalog = new MemoryCatalog();
  readonly flushed: string[] = [];
  readonly context: QueryContext;

  /** @param files what COPY and external tables reach */
  constructor(signal: AbortSignal = new AbortController().signal, files?: FileAccess) {
    const clock = { ...fixedClock(FIXTURE_NOW), monotonicMillis: () => performance.now() };
    this.context = {
      catalog: this.catalog,
      writer: this.catalog,
      admin: {
        flushTable: async (database, table) => void this.flushed.push(`${database}.${table}`),
        buildIndexes: async (database, table) => void this.flushed.push(`index ${database}.${table}`),
        backups: {
          begin: async () => ({
            id: "b1",
            moment: 1000,
            sequence: 7,
            metaFile: "/m",
            dataFolder: "/d",
            logFolder: "/l",
            logs: [],
            leaseMillis: 60_000,
          }),
          renew: (id) => void this.flushed.push(`renew ${id}`),
          releaseLog: async (id) => void this.flushed.push(`log of ${id}`),
          end: async (id) => void this.flushed.push(`end ${id}`),
        },
        compactTable: async (database, table, range) => {
          this.flushed.push(`compact ${database}.${table}${range === undefined ? "" : ` ${range.start}..${range.end}`}`);
        },
      },
      clock,
      scheduler: new Scheduler(clock),
      variables: { database: "public", timeZone: "UTC" },
      signal,
      files,
    };
  }

  /** Runs all statements of a text and gives the last answer. */
  sql(text: string, options: ExecOptions = {}): Promise<Answer> {
    return runSql(text, this.context, options);
  }

  /**
   * Runs a query by the interpreter, by generated code and, its tables in three shards of a cluster, as a frontend does, and insists that
   * the rows agree, order left aside; gives what generated code gave.
   */
  async both(text: string): Promise<Answer> {
    const got = await runReferences(text, this.context, POOLS());
    if (REMOTE_SHARDS === 0) await this.sameElsewhere(text, got);
    return got;
  }

  private async sameElsewhere(text: string, got: Answer): Promise<void> {
    const context = { ...this.context, catalog: catalogElsewhere(this.catalog, SHARDS_ELSEWHERE) };
    const found = await runSql(text, context, { workers: ELSEWHERE, ...TRAVELLED });
    sameAnswers(text, [`in ${SHARDS_ELSEWHERE} shards`, found], ["whole", got]);
  }
}

/** What runs parts of queries beside this thread; those of remote tables, where their rows are. */
const POOLS = (): readonly QueryWorkers[] =>
  REMOTE_SHARDS > 0 ? [REMOTE_WORKERS] : [localWorkers(openMemorySnapshot), ...localHelpers(openMemorySnapshot)];
const REMOTE_WORKERS: QueryWorkers = new RemoteWorkers(REMOTE_SHARDS);

/** Shards of the tables that `QueryFixture.both` asks beside those of the test. */
const SHARDS_ELSEWHERE = 3;
const ELSEWHERE: QueryWorkers = new RemoteWorkers(SHARDS_ELSEWHERE);

/** Lets each plan become bytes and a plan again, which must be the same bytes again, before it runs. */
const TRAVELLED: ExecOptions = {
  travelled: (plan, names) => {
    const bytes = encodePlan(plan);
    const read = decodePlan(bytes, names);
    if (!Buffer.from(encodePlan(read)).equals(bytes)) throw new Error("a plan that was read is another one");
    return read;
  },
};

/** A frontend's queries always have somewhere else to run; not what is read as it is written. */
const OF_REMOTE: ExecOptions = REMOTE_SHARDS > 0 && Bun.env["VARVE_REMOTE_SCANS"] === undefined ? { workers: REMOTE_WORKERS } : {};

/** The same for every query of a run of tests: `VARVE_PLANS=encoded bun test src/query test/sql`. */
export const PLANS_OF_RUN: ExecOptions = Bun.env["VARVE_PLANS"] === "encoded" ? TRAVELLED : {};

/** Whether texts of a run are planned by templates, too, with some other constants: `VARVE_PLANS=known bun test src/query test/sql`. */
const CHECKS_KNOWN: boolean = Bun.env["VARVE_PLANS"] === "known";
const KNOWN_ROUNDS = 4;

/** Runs all statements of a text and gives the last answer. */
export async function runSql(text: string, context: QueryContext, given: ExecOptions = {}): Promise<Answer> {
  const options: ExecOptions = { ...PLANS_OF_RUN, ...OF_REMOTE, ...given };
  let last: Answer = { columns: [], types: [], rows: [], affected: undefined };
  if (CHECKS_KNOWN) await checkKnownPlans(text, context, otherConstants(text.length), KNOWN_ROUNDS);
  for (const statement of parseSql(text)) {
    const result = await executeStatement(statement, context, options);
    if (result.kind === "affected") {
      last = { columns: [], types: [], rows: [], affected: result.rowCount };
      continue;
    }
    const rows: Scalar[][] = [];
    for await (const batch of result.batches) {
      for (let row = 0; row < batch.rowCount; row++) {
        rows.push(
          result.headers.map((header, c) =>
            batch.vectors[c] === undefined ? undefined : ownScalar(scalarAt(batch.vectors[c], header.type, row), header.type),
          ),
        );
      }
    }
    last = {
      columns: result.headers.map(({ name }) => name),
      types: result.headers.map(({ type }) => displayName(type)),
      rows,
      affected: undefined,
    };
  }
  return last;
}

/**
 * Runs a query by the interpreter, as it is planned and, with each pool of workers, on threads and by a plan that was bytes, and insists
 * that the rows agree, order left aside; gives what the plan gave.
 */
export async function runReferences(text: string, context: QueryContext, pools: readonly QueryWorkers[] = []): Promise<Answer> {
  const wanted = await runSql(text, context, { forceInterpreter: true });
  const got = await runSql(text, context);
  for (const [i, workers] of pools.entries())
    sameAnswers(text, [`on threads ${i}`, await runSql(text, context, { workers, ...TRAVELLED })], ["whole", got]);
  sameAnswers(text, ["generated", got], ["interpreted", wanted]);
  return got;
}

/** Insists that two answers have the same rows, order left aside. Each comes with where it is from. @throws Error with both */
export function sameAnswers(text: string, [name, answer]: readonly [string, Answer], [other, wanted]: readonly [string, Answer]): void {
  const [a, b] = [canonical(answer), canonical(wanted)];
  if (a !== b) throw new Error(`answers differ on ${text}\n${name}: ${a.slice(0, 2000)}\n${other}: ${b.slice(0, 2000)}`);
}

/** A value that does not lie on a batch's memory; lists, structs and maps as JSON. */
function ownScalar(value: Scalar, type: DataType): Scalar {
  if (value instanceof Uint8Array && isNested(type)) return nestedJson(type, value);
  return value instanceof Uint8Array ? value.slice() : value;
}

/** Columns, types and sorted rows as text; floats to 9 digits, since sums may add in another order. */
function canonical(answer: Answer): string {
  const rows = answer.rows.map((row) => row.map((value, i) => cellText(value, answer.types[i] ?? "")).join("|")).sort();
  return [answer.columns.join("|"), answer.types.join("|"), ...rows].join("\n");
}

function cellText(value: Scalar, type: string): string {
  if (value === undefined) return "NULL";
  if (typeof value === "number" && type.startsWith("Float")) return value.toPrecision(9);
  return value instanceof Uint8Array ? value.toHex() : String(value);
}
