/** `bun run test:sql`: random queries beside DuckDB, the long form, from the command line. See `--help`. */
import { parseArgs } from "node:util";
import { Duckdb } from "./duckdb.ts";
import { terminalProgress } from "../../bench/macro/progress.ts";
import { runKeyed } from "./keyed-run.ts";
import type { Tally } from "./oracle.ts";

const HELP = `Asks random queries about keys of loops and reference, of rows in memory, in files, overwritten and deleted, with little
memory, and of DuckDB. Prints each failure with the smallest tables that show it.

Examples:
  bun run test:sql                                20,000 queries
  bun run test:sql --queries 500 --seed 7         the choices of seed 7; a failure names the seed of its case: --queries 48 --seed THAT

Options:
  --queries N        queries (20000)
  --seed N           seed of all choices (random)
  --rows N           most rows of a table (5000)
  --failures N       failures after which it ends (10)
  -h, --help         this text
`;

/** Characters of a failure that are printed. */
const SHOWN_CHARACTERS = 12_000;
/** Queries between two lines of progress. */
const PROGRESS_QUERIES = 500;

class TooMany extends Error {}

/** Runs the command line and returns the exit status: 0 all answers agree, 1 some do not. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      queries: { type: "string", default: "20000" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      rows: { type: "string", default: "5000" },
      failures: { type: "string", default: "10" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const duckdb = await Duckdb.open();
  process.stdout.write(`seed ${values.seed}\n`);
  let failures = 0;
  const onFailure = (seed: number, error: Error): void => {
    process.stdout.write(`\n== seed ${seed}\n${error.message.slice(0, SHOWN_CHARACTERS)}\n`);
    if (++failures >= Number(values.failures)) throw new TooMany(`${failures} failures`);
  };
  let shown = 0;
  const progress = terminalProgress();
  const onCase = (tally: Tally): void => {
    progress(`${tally.queries} of ${values.queries} queries, ${failures} failures`);
    if (tally.queries < shown + PROGRESS_QUERIES) return;
    shown = tally.queries;
    process.stdout.write(`${JSON.stringify({ ...tally, failures })}\n`);
  };
  const onFirst = (seed: number, error: Error): void => {
    process.stdout.write(`seed ${seed} fails and is made smaller: ${error.message.slice(-600)}\n`);
  };
  const plan = {
    onCase,
    onFirst,
    queries: Number(values.queries),
    seed: Number(values.seed),
    rowsMax: Number(values.rows),
    duckdb,
    onFailure,
  };
  try {
    const tally = await runKeyed(plan);
    process.stdout.write(`${JSON.stringify({ ...tally, failures })}\n`);
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    process.stdout.write(`ended after ${error.message}\n`);
  } finally {
    duckdb?.close();
  }
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
