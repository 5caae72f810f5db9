/**
 * A crash campaign: one data directory, many SIGKILLs, and after each restart the question whether every promise was kept.
 *
 * ```text
 *   start ─► writers send ─► SIGKILL at a random moment ─► (sometimes: start, SIGKILL during recovery) ─► start ─► check ─► writers …
 * ```
 *
 * Promises: every acknowledged row is there, with its values; no row is there twice; no row was never sent; a request that was not
 * answered is there whole or not at all, and stays as it was found. A kill of the process leaves the page cache alone, so that this
 * tests order and atomicity, not the disk: what `fdatasync` promises is tested by the log's own tests.
 */
import { mkdir } from "node:fs/promises";
import { freePort } from "../../bench/macro/free-port.ts";
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { type LaunchedServer, launchVarve, type ServerProcess, varveDataHome } from "../../bench/macro/server-process.ts";
import { SqlError, sqlTable, TABLE_NOT_FOUND } from "../../bench/macro/sql-client.ts";
import type { Batch } from "./batch.ts";
import { checkStore } from "./check.ts";
import type { Door } from "./doors/door.ts";
import { doorOf } from "./doors/doors.ts";
import { strayFiles, strayObjects } from "./points/home.ts";
import { retriesAfter } from "./retry.ts";
import type { CampaignStore } from "./store.ts";
import { WriterModel } from "./model.ts";
import { writeUntilKilled } from "./writer.ts";

/** How to run a campaign. */
export interface CampaignOptions {
  readonly directory: string;
  readonly seed: number;
  readonly kills: number;
  readonly writers: number;
  /** Doors that the writers use in turn. */
  readonly doors: readonly Door[];
  /** Longest time from a restart to the next kill. */
  readonly roundMsMax: number;
  /** `small`: memtables and log segments so small that kills hit flushes; `large`: everything stays in the log; `mixed`: by chance. */
  readonly memtables: "small" | "large" | "mixed";
  /** Numbers of ingest threads: each start takes one of them. */
  readonly threads: readonly number[];
  /** Every row, and every file, is compared after each so many kills, and at the end. */
  readonly fullCheckEvery: number;
  /** Where the data files are; default in the data directory. */
  readonly store?: CampaignStore | undefined;
  /** Is told of every round. */
  readonly progress: (text: string) => void;
}

/** What a campaign did. */
export interface CampaignReport {
  readonly kills: number;
  readonly killsInRecovery: number;
  readonly acknowledgedBatches: number;
  /** The same by the name of the door. */
  readonly acknowledgedByDoor: Readonly<Record<string, number>>;
  readonly unansweredApplied: number;
  readonly unansweredAbsent: number;
  readonly rows: number;
  readonly rowsCompared: number;
  /** Milliseconds from start to ready, one a restart. */
  readonly readyMs: readonly number[];
  /** Empty when every promise was kept; the campaign stops at the first check that finds one broken. */
  readonly violations: readonly string[];
}

const ROUND_MS_MIN = 10;
/** Share of the rounds whose time begins with the first acknowledged batch. Reason: a busy machine may take longer to the first answer. */
const WARM_SHARE = 0.8;
const WARM_MS_MAX = 3000;
const RECOVERY_KILL_SHARE = 0.2;
const RECOVERY_KILL_MS_MAX = 250;
const SMALL_SHARE = 0.6;
const FLUSH_PAUSE_MS_MAX = 150;
const WRITER_SEED_STEP = 7919;

const SMALL = { storage: { memtable_size: '"1MiB"' }, wal: { segment_size: '"1MiB"' } };
const LARGE = { storage: {} };
/** Nothing is flushed or merged that nobody asked for: a merge that a stop gives up leaves a file. */
const QUIET = { storage: { compaction: "false" } };

/** The state of a running campaign. */
interface Campaign {
  readonly options: CampaignOptions;
  readonly port: number;
  readonly baseUrl: string;
  readonly grpcPort: number;
  readonly random: Random;
  readonly models: readonly WriterModel[];
  readonly writerRandoms: readonly Random[];
  readonly retries: (Batch | undefined)[];
}

/** Runs a campaign. @throws Error when a server does not start again or refuses a request */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  await mkdir(options.directory, { recursive: true });
  const port = freePort();
  const numbers = Array.from({ length: options.writers }, (_, writer) => writer);
  const campaign: Campaign = {
    options,
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    grpcPort: freePort(),
    random: seededRandom(options.seed),
    models: numbers.map((writer) => new WriterModel(writer, doorOf(writer, options.doors))),
    writerRandoms: numbers.map((writer) => seededRandom(options.seed + WRITER_SEED_STEP * (writer + 1))),
    retries: numbers.map(() => undefined),
  };
  const totals = { killsInRecovery: 0, unansweredApplied: 0, unansweredAbsent: 0, rowsCompared: 0 };
  const readyMs: number[] = [];
  let violations: readonly string[] = [];
  let server = await start(campaign);
  let kills = 0;
  while (kills < options.kills && violations.length === 0) {
    await writeAndKill(campaign, server);
    kills++;
    if (campaign.random.next() < RECOVERY_KILL_SHARE) {
      await killInRecovery(campaign);
      totals.killsInRecovery++;
    }
    server = await start(campaign);
    readyMs.push(server.readyMs);
    const isFull = kills % options.fullCheckEvery === 0 || kills === options.kills;
    const unanswered = campaign.models.map((model) => model.unanswered);
    const checkStarted = performance.now();
    // Sums take as long as the store is large: those of one door after each kill.
    const summed = isFull ? options.doors : [doorOf(kills, options.doors)];
    const check = await checkStore(campaign.baseUrl, campaign.models, isFull, summed);
    violations = check.violations;
    if (isFull && violations.length === 0) {
      await server.stop();
      violations = await strayFilesOf(campaign);
      server = await start(campaign);
    }
    totals.rowsCompared += check.rowsCompared;
    totals.unansweredApplied += check.fates.filter((fate) => fate === "applied").length;
    totals.unansweredAbsent += check.fates.filter((fate) => fate === "absent").length;
    campaign.retries.splice(0, unanswered.length, ...retriesAfter(campaign.models, unanswered, check.fates, campaign.random));
    options.progress(
      `kill ${kills}: ready after ${server.readyMs.toFixed(0)} ms; ${check.rowsCompared} rows compared one by one, ` +
        `check took ${(performance.now() - checkStarted).toFixed(0)} ms`,
    );
  }
  await server.stop();
  const rows = campaign.models.reduce((sum, model) => [...model.origins.values()].reduce((seats, origin) => seats + origin.seats, sum), 0);
  const acknowledgedByDoor: Record<string, number> = {};
  for (const { door, acknowledged } of campaign.models) acknowledgedByDoor[door.name] = (acknowledgedByDoor[door.name] ?? 0) + acknowledged;
  const acknowledgedBatches = Object.values(acknowledgedByDoor).reduce((sum, count) => sum + count, 0);
  return { kills, ...totals, acknowledgedBatches, acknowledgedByDoor, rows, readyMs, violations };
}

/** Files that a start does not take away. No server runs before and after. */
async function strayFilesOf(campaign: Campaign): Promise<readonly string[]> {
  const server = await (await launchWith(campaign, QUIET)).ready();
  await server.stop();
  const { directory, store } = campaign.options;
  const home = varveDataHome(directory);
  const strays = store === undefined ? strayFiles(home) : await strayObjects(home, store);
  return strays.map((stray) => `${stray} does not match its entry`);
}

async function launch(campaign: Campaign): Promise<LaunchedServer> {
  const { memtables } = campaign.options;
  const isSmall = memtables === "small" || (memtables === "mixed" && campaign.random.next() < SMALL_SHARE);
  return await launchWith(campaign, isSmall ? SMALL : LARGE);
}

type Settings = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function launchWith(campaign: Campaign, chosen: Settings): Promise<LaunchedServer> {
  const { directory, store } = campaign.options;
  const threads = campaign.options.threads[campaign.random.below(campaign.options.threads.length)] ?? 1;
  const settings = { ...chosen, storage: { ...chosen["storage"], ...store?.settings }, ingest: { threads: String(threads) } };
  const env = { VARVE__GRPC__BIND_ADDR: `127.0.0.1:${campaign.grpcPort}` };
  return await launchVarve({ directory, port: campaign.port, settings, env });
}

async function start(campaign: Campaign): Promise<ServerProcess> {
  return await (await launch(campaign)).ready();
}

/** Lets all writers write, and kills the server. */
async function writeAndKill(campaign: Campaign, server: ServerProcess): Promise<void> {
  const { options, models, writerRandoms, retries, baseUrl, grpcPort, random } = campaign;
  const urls = { baseUrl, grpcUrl: `http://127.0.0.1:${grpcPort}` };
  const writers = models.map(async (model, i) => await writeUntilKilled(urls, model, writerRandoms[i]!, retries[i]));
  const flushes = flushUntilKilled(campaign, server);
  if (random.next() < WARM_SHARE) await firstAnswer(models);
  await Bun.sleep(ROUND_MS_MIN + random.next() * (options.roundMsMax - ROUND_MS_MIN));
  if (!server.isRunning()) throw new Error(`the server ended by itself; its log is in ${options.directory}`);
  await server.kill();
  const ends = await Promise.all(writers);
  const refusal = ends.find((end) => end.refusal !== undefined)?.refusal ?? (await flushes);
  if (refusal !== undefined) throw new Error(`the server refused what it should do: ${refusal}`);
}

/** Waits until a batch is acknowledged, but not for long. */
async function firstAnswer(models: readonly WriterModel[]): Promise<void> {
  const count = (): number => models.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  const before = count();
  const started = performance.now();
  while (count() === before && performance.now() - started < WARM_MS_MAX) await Bun.sleep(2);
}

/** Asks for flushes at random moments, so that kills hit them too. Returns the answer that should not have been, if any. */
async function flushUntilKilled(campaign: Campaign, server: ServerProcess): Promise<string | undefined> {
  const random = seededRandom(campaign.options.seed ^ server.pid);
  const tables = campaign.models.flatMap(({ door }) => door.tables);
  for (;;) {
    await Bun.sleep(random.next() * FLUSH_PAUSE_MS_MAX);
    if (!server.isRunning()) return undefined;
    const flush = `ADMIN flush_table('${tables[random.below(tables.length)]!}')`;
    const problem = await sqlTable(campaign.baseUrl, flush).then(() => undefined, flushProblem);
    if (problem !== undefined) return problem;
  }
}

/** A killed server breaks the connection, and a table that nobody wrote yet cannot be flushed. Nothing else is fine. */
function flushProblem(error: unknown): string | undefined {
  if (!(error instanceof SqlError)) return undefined;
  return error.message.includes(TABLE_NOT_FOUND) ? undefined : error.message;
}

/** Starts the server and kills it before it is ready, or soon after. */
async function killInRecovery(campaign: Campaign): Promise<void> {
  const launched = await launch(campaign);
  await Bun.sleep(campaign.random.next() * RECOVERY_KILL_MS_MAX);
  await launched.kill();
}
