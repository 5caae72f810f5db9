/**
 * A campaign over all fail points: a real server is killed at each of them while it works, and the next one checked.
 *
 *   for each name: start armed ─► work until it dies there ─► start ─► every acknowledged row? ─► stop ─► any file that nobody knows?
 *
 * A server that does not die at its point is a violation: the point was never hit.
 */
import { mkdir } from "node:fs/promises";
import { freePort } from "../../../bench/macro/free-port.ts";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { type LaunchedServer, launchVarve, type ServerProcess, varveDataHome } from "../../../bench/macro/server-process.ts";
import { SqlError, sqlTable, TABLE_NOT_FOUND } from "../../../bench/macro/sql-client.ts";
import { FAIL_POINTS_VARIABLE } from "../../../src/base/process/fail-point.ts";
import { FAIL_POINTS, type FailPointName, isOfRemoteStore } from "../../../src/base/process/fail-point-names.ts";
import type { Batch } from "../batch.ts";
import { checkStore } from "../check.ts";
import { DOORS, doorOf } from "../doors/doors.ts";
import { WriterModel } from "../model.ts";
import { retriesAfter } from "../retry.ts";
import type { CampaignStore } from "../store.ts";
import { writeUntilKilled } from "../writer.ts";
import { strayFiles, strayObjects } from "./home.ts";
import { dropBeside, flushLongFile, isGone, type Recipe, recipeFor, workStatements } from "./recipes.ts";

/** How to run a campaign. */
export interface PointCampaignOptions {
  readonly directory: string;
  readonly seed: number;
  readonly writers: number;
  /** Points to die at; default all that the server passes. */
  readonly names?: readonly FailPointName[];
  /** Where the data files are; default in the data directory. */
  readonly store?: CampaignStore | undefined;
  readonly progress: (text: string) => void;
}

/** What a campaign did. */
export interface PointCampaignReport {
  readonly deaths: number;
  readonly acknowledgedBatches: number;
  readonly rowsCompared: number;
  /** One sentence a broken promise or point that was not hit; empty is good. */
  readonly violations: readonly string[];
}

/** Longest way to a point. Those that are hit at all are hit within a second or two; over a real store on a busy disk within twenty. */
const DEATH_MS_MAX = 20_000;
const DEATH_MS_MAX_ELSEWHERE = 90_000;
const BATCHES_BEFORE_END = 5;
/** Few, so that statements get their turn and the store stays small. */
const BATCHES_A_ROUND = 8;
const WRITER_SEED_STEP = 7919;

const WORK_SETTINGS = { storage: { memtable_size: '"1MiB"' }, wal: { segment_size: '"64KiB"' } };
/** Nothing is flushed or merged that nobody asked for. */
const QUIET_SETTINGS = { storage: { compaction: "false" }, wal: { segment_size: '"64KiB"' } };
/** Nothing is flushed before all of a long file is in memory. */
const LONG_SETTINGS = { storage: { memtable_size: '"256MiB"' }, wal: {} };

interface Campaign {
  readonly options: PointCampaignOptions;
  readonly port: number;
  readonly baseUrl: string;
  readonly random: Random;
  readonly models: readonly WriterModel[];
  readonly writerRandoms: readonly Random[];
  readonly retries: (Batch | undefined)[];
  readonly violations: string[];
  /** Rows of tables of a long file, by table. */
  readonly longTables: Map<string, number>;
  round: number;
  deaths: number;
  acknowledgedBatches: number;
  rowsCompared: number;
}

/** Runs a campaign. @throws Error when a server does not start again or refuses a request */
export async function runPointCampaign(options: PointCampaignOptions): Promise<PointCampaignReport> {
  await mkdir(options.directory, { recursive: true });
  const port = freePort();
  const writers = Array.from({ length: options.writers }, (_, writer) => writer);
  const campaign: Campaign = {
    options,
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    random: seededRandom(options.seed),
    models: writers.map((writer) => new WriterModel(writer, doorOf(writer, DOORS))),
    writerRandoms: writers.map((writer) => seededRandom(options.seed + WRITER_SEED_STEP * (writer + 1))),
    retries: writers.map(() => undefined),
    violations: [],
    longTables: new Map(),
    round: 0,
    deaths: 0,
    acknowledgedBatches: 0,
    rowsCompared: 0,
  };
  const passed = (Object.keys(FAIL_POINTS) as FailPointName[]).filter((name) => options.store !== undefined || !isOfRemoteStore(name));
  const names = options.names ?? passed;
  for (const [index, name] of names.entries()) {
    await dieAt(campaign, name);
    await checkAfter(campaign, name, index === names.length - 1);
    if (campaign.violations.length > 0) break;
  }
  const { deaths, acknowledgedBatches, rowsCompared, violations } = campaign;
  return { deaths, acknowledgedBatches, rowsCompared, violations };
}

/** Brings a server to the point and waits for its death. */
async function dieAt(campaign: Campaign, name: FailPointName): Promise<void> {
  const { options, random, violations } = campaign;
  const recipe = recipeFor(name, random);
  const dataHome = varveDataHome(options.directory);
  if (recipe.threadsBefore !== undefined) {
    const first = await (await launch(campaign, undefined, recipe.threadsBefore)).ready();
    await writeSome(campaign);
    await first.kill();
  }
  await recipe.before?.(dataHome, options.store);
  const started = performance.now();
  const server = await launch(campaign, recipe);
  const millisMax = options.store === undefined ? DEATH_MS_MAX : DEATH_MS_MAX_ELSEWHERE;
  const late = setTimeout(() => void server.kill(), millisMax);
  await spend(campaign, recipe, server);
  const end = await server.ended();
  clearTimeout(late);
  const millis = performance.now() - started;
  if (end !== "SIGKILL" || millis >= millisMax) violations.push(`${name} was never hit: the server ended with ${end} after ${millis} ms`);
  campaign.deaths++;
  options.progress(`${name} (${recipe.arm}): died after ${millis.toFixed(0)} ms`);
}

async function spend(campaign: Campaign, { pastime }: Recipe, launched: LaunchedServer): Promise<void> {
  if (pastime === "start") return;
  let server: ServerProcess;
  try {
    server = await launched.ready();
  } catch (error) {
    if ((await launched.ended()) !== "SIGKILL") throw error;
    return; // Its point lies within the start.
  }
  if (pastime === "stop") {
    await writeSome(campaign);
    process.kill(server.pid, "SIGTERM");
    return;
  }
  if (pastime === "flush a long file") {
    const table = `long_${campaign.longTables.size}`;
    campaign.longTables.set(table, 0);
    const { longTables } = campaign;
    await flushLongFile(campaign.baseUrl, table, (rows) => void longTables.set(table, (longTables.get(table) ?? 0) + rows));
    return;
  }
  // A writer whose batch was not answered must not send another: the server is about to be gone.
  while (server.isRunning() && campaign.models.every(({ unanswered }) => unanswered === undefined)) {
    if (pastime === "work") await Promise.all([write(campaign, BATCHES_A_ROUND, true), workOnce(campaign, server)]);
    else await dropBeside(campaign.baseUrl, pastime === "drop beside a flush" ? "flush" : "merge");
  }
}

/** One round of statements; those of tables that nobody wrote yet are refused, and others may hit what the point left undone. */
async function workOnce(campaign: Campaign, server: ServerProcess): Promise<void> {
  // Of logical tables one is enough: its rows are in the files of all of them.
  const tables = campaign.models.flatMap(({ door }) => (door.name === "remote-write" ? door.tables.slice(0, 1) : door.tables));
  const { round } = campaign;
  campaign.round++;
  // A write that makes its table, and one that makes a column.
  for (const fields of ["v=1i", "v=2i,w=2i"]) {
    await fetch(`${campaign.baseUrl}/v1/influxdb/write`, { method: "POST", body: `fresh_${round},host=a ${fields} 1` }).catch(isGone);
  }
  for (const statement of workStatements(tables, round)) {
    if (!server.isRunning()) return;
    await sqlTable(campaign.baseUrl, statement).catch((error: unknown) => {
      if (error instanceof SqlError && (error.message.includes(TABLE_NOT_FOUND) || error.message.includes("fail point"))) return undefined;
      return isGone(error);
    });
  }
}

async function writeSome(campaign: Campaign): Promise<void> {
  await write(campaign, BATCHES_BEFORE_END, false);
}

async function write(campaign: Campaign, batchesMax: number, mayFail: boolean): Promise<void> {
  const { models, writerRandoms, retries, baseUrl } = campaign;
  const urls = { baseUrl, grpcUrl: baseUrl }; // none of these doors asks for gRPC
  const ends = await Promise.all(
    models.map(async (model, i) => {
      const retry = retries[i];
      retries[i] = undefined;
      return await writeUntilKilled(urls, model, writerRandoms[i]!, retry, batchesMax);
    }),
  );
  for (const { acknowledged, refusal } of ends) {
    campaign.acknowledgedBatches += acknowledged;
    if (refusal !== undefined && !(mayFail && refusal.includes("fail point"))) throw new Error(`the server refused a write: ${refusal}`);
  }
}

/** Starts a server that is not armed, compares, and stops it. */
async function checkAfter(campaign: Campaign, name: FailPointName, isFull: boolean): Promise<void> {
  const { baseUrl, models, violations, options, random, retries } = campaign;
  const server = await (await launch(campaign, undefined)).ready();
  const unanswered = models.map((model) => model.unanswered);
  const check = await checkStore(baseUrl, models, isFull);
  for (const violation of check.violations) violations.push(`after ${name}: ${violation}`);
  for (const [table, rows] of campaign.longTables) {
    if (rows === 0) continue;
    const found = await sqlTable(baseUrl, `SELECT count(*), sum(v) FROM ${table}`);
    const want = [rows, (rows * (rows - 1)) / 2].join();
    if (found.rows.join() !== want) violations.push(`after ${name}: rows and sum of ${table} are ${found.rows.join()}, want ${want}`);
  }
  campaign.rowsCompared += check.rowsCompared;
  retries.splice(0, models.length, ...retriesAfter(models, unanswered, check.fates, random));
  await server.stop();
  const home = varveDataHome(options.directory);
  const strays = options.store === undefined ? strayFiles(home) : await strayObjects(home, options.store);
  for (const stray of strays) violations.push(`after ${name}: ${stray} does not match its entry`);
}

/** `threads` of a server that is not armed are one or two by chance, unless they are given. */
async function launch(
  { options, port, random }: Campaign,
  recipe: Recipe | undefined,
  threads = recipe === undefined ? 1 + random.below(2) : (recipe.threads ?? 1),
): Promise<LaunchedServer> {
  const isQuiet = recipe === undefined || recipe.pastime.startsWith("drop beside"); // A merge that a stop gives up leaves a file.
  const settings = isQuiet ? QUIET_SETTINGS : recipe.pastime === "flush a long file" ? LONG_SETTINGS : WORK_SETTINGS;
  return await launchVarve({
    directory: options.directory,
    port,
    settings: { ...settings, storage: { ...settings.storage, ...options.store?.settings }, ingest: { threads: String(threads) } },
    env: { [FAIL_POINTS_VARIABLE]: recipe?.arm ?? "" },
  });
}
