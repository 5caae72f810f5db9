/** `bun run test:fuzz`: the long form, from the command line. See `--help`. */
import { parseArgs } from "node:util";
import { runFuzz } from "./fuzz.ts";

const HELP = `Sends random requests of all protocols and statements to few names of tables, and checks that the server lives,
answers no 5xx, and keeps every row that it acknowledged.

Examples:
  bun run test:fuzz                                          10,000 requests
  bun run test:fuzz --requests 100000 --seed 7 --threads 1,2   longer, with the choices of seed 7

Options:
  --requests N       requests and statements (10000)
  --seed N           seed of all choices (random); which of two requests at the same time comes first is not repeated
  --threads LIST     numbers of ingest threads; each start takes the next one (1,2)
  --restart-every N  requests between two starts of the server (5000)
  --compare-every N  requests between two comparisons (200)
  -h, --help         this text
`;

/** Runs the command line and returns the exit status: 0 all is well, 1 something was found. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: "string", default: "10000" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      threads: { type: "string", default: "1,2" },
      "restart-every": { type: "string", default: "5000" },
      "compare-every": { type: "string", default: "200" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  process.stdout.write(`seed ${values.seed}\n`);
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

process.exitCode = await main(process.argv.slice(2));
