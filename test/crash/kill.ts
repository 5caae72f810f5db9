/** `bun run test:crash`: crash campaigns from the command line. See `--help`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../../bench/macro/random.ts";
import { killAllServers } from "../../bench/macro/server-process.ts";
import { median, percentile } from "../../bench/macro/statistics.ts";
import { type CampaignOptions, runCampaign } from "./campaign.ts";
import { DOORS } from "./doors/doors.ts";
import { runPointCampaign } from "./points/campaign.ts";
import { runPowerCampaign } from "./power/campaign.ts";
import { startCampaignStore } from "./store.ts";

const HELP = `Kills a Varve again and again while it is written to, and checks after each restart that it kept its promises.

Examples:
  bun run test:crash                          100 kills on one data directory
  bun run test:crash --times 1000 --seed 7    longer, with the choices of seed 7
  bun run test:crash --threads 4              always four ingest threads
  bun run test:crash --memtables small        every kill near a flush
  bun run test:crash --points                 one kill at every named fail point
  bun run test:crash --store s3 --points      the same of a server whose data files lie in an S3 store
  bun run test:crash --power --times 1000     so many random lives on a disk that loses power

Options:
  --points          a server is killed at each fail point; a point that is never hit fails
  --power           engines in this process on a disk in memory that forgets what was not synced, between any two calls
  --store NAME      file, or s3: data files lie in an S3 store in memory, which is late, refuses and loses answers by chance (file)
  --versitygw PATH  with --store s3: this program is the store
  --times N         kills, or lives with --power (100)
  --seed N          seed of all choices (random); moments depend on the machine, so that a seed repeats choices, not timing
  --writers N       connections that write (5)
  --doors LIST      what they speak, in turn: ${DOORS.map(({ name }) => name).join(", ")} (all)
  --round-ms N      longest time between a restart and a kill (400)
  --memtables HOW   small, large or mixed (mixed)
  --threads LIST    numbers of ingest threads; each start takes one of them (1,2,3)
  --full-every N    compare every row after each N kills, and at the end (25)
  --directory DIR   data directory (a new one; removed when all is well)
  -h, --help        this text
`;

const MEMTABLES = ["small", "large", "mixed"] as const;
const EXIT_USAGE = 2;
/** Apart from the choices of the campaign. */
const STORE_SEED = 0x5333;

/** Runs the command line and returns the exit status: 0 all promises kept, 1 one was broken. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      points: { type: "boolean", default: false },
      power: { type: "boolean", default: false },
      store: { type: "string", default: "file" },
      versitygw: { type: "string" },
      times: { type: "string", default: "100" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      writers: { type: "string", default: "5" },
      doors: { type: "string", default: DOORS.map(({ name }) => name).join(",") },
      "round-ms": { type: "string", default: "400" },
      memtables: { type: "string", default: "mixed" },
      threads: { type: "string", default: "1,2,3" },
      "full-every": { type: "string", default: "25" },
      directory: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const memtables = MEMTABLES.find((mode) => mode === values.memtables);
  const numbers = [values.times, values.seed, values.writers, values["round-ms"], values["full-every"]].map(Number);
  const threads = values.threads.split(",").map(Number);
  const doorNames = values.doors.split(",");
  const doors = DOORS.filter(({ name }) => doorNames.includes(name));
  const isNatural = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  if (
    memtables === undefined ||
    !["file", "s3"].includes(values.store) ||
    (values.store === "s3" ? values.power : values.versitygw !== undefined) ||
    numbers.some((value) => !Number.isSafeInteger(value) || value < 0) ||
    !threads.every(isNatural) ||
    doors.length !== doorNames.length
  ) {
    process.stderr.write(
      "cannot read the options: numbers are whole, memtables are small, large or mixed, threads are 1 or more, doors are those of " +
        "--help, --store is file or s3 and not for --power, --versitygw goes with --store s3\n",
    );
    return EXIT_USAGE;
  }
  const [kills, seed, writers, roundMsMax, fullCheckEvery] = numbers as [number, number, number, number, number];
  const directory = resolve(values.directory ?? (await mkdtemp(join(tmpdir(), "varve-crash-"))));
  process.stdout.write(`seed ${seed}, data in ${directory}\n`);
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const isElsewhere = values.store === "s3";
  const store = isElsewhere ? await startCampaignStore(directory, values.versitygw, seededRandom(seed ^ STORE_SEED)) : undefined;
  const load = { directory, seed, kills, writers, doors, roundMsMax };
  const options: CampaignOptions = { ...load, memtables, threads, fullCheckEvery, store, progress };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      killAllServers();
      process.exit(1);
    });
  }
  const run = values.points ? pointCampaign : values.power ? powerCampaign : campaign;
  const isGood = await run(options).finally(killAllServers);
  await store?.close();
  if (isGood && values.directory === undefined) await rm(directory, { recursive: true });
  return isGood ? 0 : 1;
}

async function campaign(options: CampaignOptions): Promise<boolean> {
  const where = `seed ${options.seed}; data and server.log stay in ${options.directory}\n`;
  const report = await runCampaign(options).catch((error: unknown) => {
    process.stdout.write(where);
    throw error;
  });
  const byDoor = Object.entries(report.acknowledgedByDoor)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
  const ready = `ready after ${median(report.readyMs).toFixed(0)} ms (median), ${percentile(report.readyMs, 1).toFixed(0)} ms (longest)`;
  process.stdout.write(
    `${report.kills} kills and ${report.killsInRecovery} more during recovery; ` +
      `${report.acknowledgedBatches} batches acknowledged (${byDoor}), ` +
      `${report.unansweredApplied} unanswered ones found whole, ${report.unansweredAbsent} absent; ${report.rows} rows, ` +
      `${report.rowsCompared} comparisons; ${ready}\n`,
  );
  return verdict(report.violations, where);
}

async function pointCampaign({ directory, seed, writers, store, progress }: CampaignOptions): Promise<boolean> {
  const report = await runPointCampaign({ directory, seed, writers, store, progress });
  process.stdout.write(
    `died at ${report.deaths} fail points; ${report.acknowledgedBatches} batches acknowledged, ${report.rowsCompared} comparisons\n`,
  );
  return verdict(report.violations, `seed ${seed}; data and server.log stay in ${directory}\n`);
}

/** The engine's thread is one of those that are asked for. */
async function powerCampaign({ directory, seed, kills, threads, progress }: CampaignOptions): Promise<boolean> {
  const report = await runPowerCampaign({ directory, seed, lives: kills, threads: threads.map((count) => count - 1), progress });
  process.stdout.write(
    `${report.deaths} deaths, ${report.powerLosses} of them power losses, ${report.deathsInStart} within a start; ` +
      `${report.acknowledged} requests acknowledged; of those that were not ${report.unansweredFound} were found whole, ` +
      `${report.unansweredGone} gone\n`,
  );
  return verdict(report.violations, `what is left stays in ${directory}\n`);
}

function verdict(violations: readonly string[], where: string): boolean {
  for (const violation of violations) process.stdout.write(`BROKEN: ${violation}\n`);
  process.stdout.write(violations.length === 0 ? "every promise was kept\n" : where);
  return violations.length === 0;
}

// With an end of its own: timers of engines that lost their power outlive them.
process.exit(await main(process.argv.slice(2)));
