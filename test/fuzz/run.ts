/** `bun run test:fuzz`: the long form, from the command line. See `--help`. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runFuzz } from "./fuzz.ts";
import { fuzzGrpc } from "./grpc/fuzz-grpc.ts";
import { fuzzInProcess } from "./promql/in-process.ts";
import { fuzzOverHttp } from "./promql/over-http.ts";
import { SEEDS } from "./promql/seeds.ts";

const HELP = `Sends random requests of all protocols and statements to few names of tables, and checks that the server lives,
answers no 5xx, and keeps every row that it acknowledged.

promql asks mutated PromQL queries, in process and of a server: no crash, no hang, no undocumented status, no memory that stays.
wires sends mutated packets to the MySQL and PostgreSQL servers, before and after sign-in: no crash, no hang, no growth.
grpc sends mutated calls of every method of the gRPC server: a status each, no INTERNAL, no row that was refused, none lost.

Examples:
  bun run test:fuzz                                          10,000 requests
  bun run test:fuzz --requests 100000 --seed 7 --threads 1,2   longer, with the choices of seed 7
  bun run test:fuzz promql --queries 10000                    mutated PromQL
  bun run test:fuzz wires --sessions 10000 --seed 7           mutated packets, each suite so many sessions
  bun run test:fuzz grpc --calls 10000 --seed 7               mutated calls, so many of each service

Options:
  --requests N       requests and statements (10000)
  --seed N           seed of all choices (random); which of two requests at the same time comes first is not repeated
  --threads LIST     numbers of ingest threads; each start takes the next one (1,2)
  --restart-every N  requests between two starts of the server (5000)
  --compare-every N  requests between two comparisons (200)
  --sessions N       of wires: sessions, each of several packets (10000)
  --calls N          of grpc: calls of each service (10000)
  --queries N        of promql: queries in process, and as many over HTTP (10000)
  -h, --help         this text
`;

/** What may be asked for beside requests to few names. */
const PARTS: ReadonlySet<string> = new Set(["promql", "wires", "grpc"]);

/** Runs the command line and returns the exit status: 0 all is well, 1 something was found. */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      requests: { type: "string", default: "10000" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      threads: { type: "string", default: "1,2" },
      "restart-every": { type: "string", default: "5000" },
      "compare-every": { type: "string", default: "200" },
      queries: { type: "string", default: "10000" },
      sessions: { type: "string", default: "10000" },
      calls: { type: "string", default: "10000" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const [what, ...others] = positionals;
  if ((what !== undefined && !PARTS.has(what)) || others.length > 0) {
    process.stderr.write(HELP);
    return 2;
  }
  process.stdout.write(`seed ${values.seed}\n`);
  if (what === "wires") return wires(values.sessions, values.seed);
  if (what === "grpc") return grpc(Number(values.calls), Number(values.seed));
  if (what === "promql") return promql(Number(values.queries), Number(values.seed));
  const report = await runFuzz({
    requests: Number(values.requests),
    seed: Number(values.seed),
    threads: values.threads.split(",").map(Number),
    restartEvery: Number(values["restart-every"]),
    compareEvery: Number(values["compare-every"]),
    say: (text) => process.stdout.write(`${text}\n`),
  });
  for (const [answer, count] of Object.entries(report.answers)) process.stdout.write(`  ${answer}: ${count}\n`);
  process.stdout.write(`${report.requests} requests, ${report.starts} starts, ${report.rows} rows acknowledged\n`);
  for (const failure of report.failures) process.stdout.write(`FAILED ${failure}\n`);
  return report.failures.length === 0 ? 0 : 1;
}

/** A query that takes longer hangs. */
const HANG_MILLIS = 2000;

async function promql(queries: number, seed: number): Promise<number> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  say(`queries that are mutated:\n${SEEDS.map((text) => `  ${JSON.stringify(text)}`).join("\n")}`);
  const options = { queries, seed, hangMillis: HANG_MILLIS, say };
  const reports = [await fuzzInProcess(options), await fuzzOverHttp(options)];
  for (const report of reports) {
    for (const line of report.lines()) say(line);
    for (const failure of report.failures) say(`FAILED ${failure}`);
  }
  return reports.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

async function grpc(calls: number, seed: number): Promise<number> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const { failures, answers, rows } = await fuzzGrpc({ calls, seed, say });
  for (const [answer, count] of [...answers].sort(([a], [b]) => (a < b ? -1 : 1))) say(`  ${answer}: ${count}`);
  say(`${rows} rows were acknowledged and found`);
  for (const failure of failures) say(`FAILED ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

/** The tests of hostile clients with more random changes: a seed that fails is one of `VARVE_SEED` there. */
function wires(sessions: string, seed: string): Promise<number> {
  const files = ["mysql", "postgres"].map((name) => `src/server/${name}/hostile.test.ts`);
  const child = Bun.spawn([process.execPath, "test", ...files, "-t", "at random"], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, VARVE_MUTATIONS: sessions, VARVE_SEED: seed },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return child.exited;
}

process.exitCode = await main(process.argv.slice(2));
