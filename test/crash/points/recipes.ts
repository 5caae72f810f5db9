/**
 * How a server is brought to each fail point: with what it is armed, what its directory looks like before, and what it does meanwhile.
 */
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../../bench/macro/random.ts";
import { SqlError, sqlTable } from "../../../bench/macro/sql-client.ts";
import type { FailPointName } from "../../../src/base/process/fail-point-names.ts";
import type { CampaignStore } from "../store.ts";
import { namedFiles, tearLog } from "./home.ts";

/** What a server does until it dies. */
export type Pastime = "work" | "start" | "stop" | "drop beside a flush" | "drop beside a merge" | "flush a long file";

/** See the file header. */
export interface Recipe {
  /** Value of the variable that arms the server. */
  readonly arm: string;
  readonly pastime: Pastime;
  /** Ingest threads; default one. */
  readonly threads?: number;
  /** Ingest threads of a server that is killed before, with rows in its log. */
  readonly threadsBefore?: number;
  /** Prepares the data directory, and the store if there is one, while no server runs. */
  readonly before?: (dataHome: string, store: CampaignStore | undefined) => Promise<void> | void;
}

/** Hits of points that a working server passes often. */
const HITS_MAX = 3;
/** How long a flush or merge that was asked for takes to stand still in its worker. */
const STANDING_STILL_MS = 250;

/** The recipe for a point. */
export function recipeFor(name: FailPointName, random: Random): Recipe {
  const kill = `${name}=kill`;
  switch (name) {
    case "log.healed":
      return { arm: `log.before-write=error:2,log.before-write=error:3,${kill}`, pastime: "work" };
    case "log.folder-deleted":
      return { arm: kill, pastime: "work", threadsBefore: 2 };
    case "thread.begun":
    case "thread.log-taken":
      return { arm: kill, pastime: "start", threads: 2, threadsBefore: 2 };
    case "log.cut":
      return { arm: `log.before-write=error:2,${kill}`, pastime: "work" };
    case "flush.before-discard":
      return { arm: `flush.job-begun=pause,${kill}`, pastime: "drop beside a flush" };
    case "compact.before-discard":
      return { arm: `compact.job-begun=pause,${kill}`, pastime: "drop beside a merge" };
    case "file.unfinished-deleted":
      return { arm: kill, pastime: "start", threadsBefore: 1, before: (home) => plantFile(home, ".tmp", undefined) };
    case "recover.orphan-deleted":
      return { arm: kill, pastime: "start", threadsBefore: 1, before: (home, store) => plantFile(home, "", store) };
    case "upload.parts-begun":
    case "upload.part-done":
    case "upload.parts-done":
      return { arm: kill, pastime: "flush a long file" };
    case "upload.failed":
      return { arm: `upload.done=error,${kill}`, pastime: "work" };
    case "upload.earlier-aborted":
      return { arm: kill, pastime: "start", threadsBefore: 1, before: (_, store) => store?.beginUpload("tables/0000000001/left.parquet") };
    case "upload.left-done":
      return { arm: kill, pastime: "start", threadsBefore: 1, before: (home, store) => leaveHere(home, store) };
    case "recover.tail-cut":
      return { arm: kill, pastime: "start", threadsBefore: 1, before: (home) => void tearLog(home) };
    default:
      if (name.startsWith("thread.")) return { arm: `${kill}:${1 + random.below(HITS_MAX)}`, pastime: "work", threads: 2 };
      if (name.startsWith("recover.")) return { arm: kill, pastime: "start", threadsBefore: 1 };
      if (name.startsWith("close.")) return { arm: kill, pastime: "stop" };
      return { arm: `${kill}:${1 + random.below(HITS_MAX)}`, pastime: "work" };
  }
}

/**
 * A file without an entry: a copy of one that has an entry, as a merge leaves its inputs, or with `suffix` an unfinished one. Its id was
 * given out and is not used. With a store it is there and nowhere else.
 */
async function plantFile(dataHome: string, suffix: string, store: CampaignStore | undefined): Promise<void> {
  const meta = new Database(join(dataHome, "meta.db"));
  const next = meta.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'next/file'").get();
  meta.close();
  const known = await knownFile(dataHome, store);
  const name = `${dirname(known)}/${String(Number(next?.value) - 1).padStart(10, "0")}.parquet${suffix}`;
  if (store === undefined) copyFileSync(join(dataHome, "data", known), join(dataHome, "data", name));
  else await store.put(name, join(dataHome, "data", known));
}

/** Takes a file out of the store that has its copy here, as a directory that was restored from a backup has it. */
async function leaveHere(dataHome: string, store: CampaignStore | undefined): Promise<void> {
  await store?.delete(await knownFile(dataHome, store));
}

/** A file that has an entry and is here; the cache may have no copy of any, so that one is made. */
async function knownFile(dataHome: string, store: CampaignStore | undefined): Promise<string> {
  const [...names] = namedFiles(dataHome).known.keys();
  const pathOf = (name: string): string => join(dataHome, "data", name);
  const here = names.find((name) => existsSync(pathOf(name)));
  if (here !== undefined) return here;
  const [name] = names;
  if (name === undefined || store === undefined) throw new Error("no server has flushed yet: there is no file to copy");
  mkdirSync(dirname(pathOf(name)), { recursive: true });
  writeFileSync(pathOf(name), await store.get(name));
  return name;
}

/** Statements that pass every step of changes of tables and databases, one round. Names differ from round to round. */
export function workStatements(tables: readonly string[], round: number): string[] {
  const scratch = `scratch_${round}`;
  return [
    "CREATE TABLE IF NOT EXISTS phy (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH ('physical_metric_table' = '')",
    ...tables.map((table) => `ADMIN flush_table('${table}')`),
    ...tables.map((table) => `ADMIN compact_table('${table}')`),
    `CREATE DATABASE d${round}`,
    `ALTER DATABASE d${round} SET 'ttl' = '90d'`,
    `CREATE TABLE ${scratch} (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(9) TIME INDEX)`,
    `INSERT INTO ${scratch} (host, v, ts) VALUES ('a', 1, 1)`,
    `DELETE FROM ${scratch} WHERE host = 'a'`,
    `ALTER TABLE ${scratch} ADD COLUMN w BIGINT`,
    `ADMIN flush_table('${scratch}')`,
    `ALTER TABLE ${scratch} RENAME ${scratch}_renamed`,
    `TRUNCATE TABLE ${scratch}_renamed`,
    `INSERT INTO ${scratch}_renamed (host, v, ts) VALUES ('a', 2, 2)`,
    `ADMIN flush_table('${scratch}_renamed')`,
    `DROP TABLE ${scratch}_renamed`,
    `DROP TABLE fresh_${round}`,
    `CREATE TABLE logical_${round} (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY) ` +
      "ENGINE = metric WITH ('on_physical_table' = 'phy')",
    `INSERT INTO logical_${round} (host, v, ts) VALUES ('a', 1, 1)`,
    `TRUNCATE TABLE logical_${round}`,
    `DROP TABLE logical_${round}`,
    "ADMIN flush_table('phy')", // Its rows are nobody's any more, and would keep the log.
    `DROP DATABASE d${round}`,
  ];
}

/** Drops a table while the flush or merge of it stands still. Ends when the server does. */
export async function dropBeside(baseUrl: string, what: "flush" | "merge"): Promise<void> {
  const run = (sql: string): Promise<unknown> => sqlTable(baseUrl, sql).catch(isGone);
  await run("CREATE TABLE beside (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(9) TIME INDEX)");
  const insert = (v: number): Promise<unknown> => run(`INSERT INTO beside (host, v, ts) VALUES ('a', ${v}, 1)`);
  await insert(1);
  if (what === "merge") {
    await run("ADMIN flush_table('beside')");
    await insert(2);
    await run("ADMIN flush_table('beside')");
  }
  const working = run(what === "merge" ? "ADMIN compact_table('beside')" : "ADMIN flush_table('beside')");
  await Bun.sleep(STANDING_STILL_MS);
  await run("DROP TABLE beside");
  await working;
}

/** Rows of a long file, requests that send them, and characters of their texts: 64 random bytes each, which nothing makes shorter. */
const LONG_ROWS = 200_000;
const LONG_REQUESTS = 4;

/**
 * Writes a table whose one file is sent in parts (8 MiB each, 12 MiB in all), and flushes it. `acknowledged` hears of rows that the server
 * has; ends when it dies.
 */
export async function flushLongFile(baseUrl: string, table: string, acknowledged: (rows: number) => void): Promise<void> {
  const rows = LONG_ROWS / LONG_REQUESTS;
  for (let from = 0; from < LONG_ROWS; from += rows) {
    const lines = Array.from({ length: rows }, (_, i) => {
      const text = createHash("sha512")
        .update(`${table} ${from + i}`)
        .digest("base64");
      return `${table},host=a v=${from + i}i,t="${text}" ${from + i}`;
    });
    const answer = await fetch(`${baseUrl}/v1/influxdb/write`, { method: "POST", body: lines.join("\n") }).catch(isGone);
    if (answer === undefined) return;
    if (!answer.ok) throw new Error(`the server refused a write: ${answer.status} ${await answer.text()}`);
    acknowledged(rows);
  }
  await sqlTable(baseUrl, `ADMIN flush_table('${table}')`).catch(isGone);
}

/** A server that dies breaks the connection; an answer that is a refusal is passed on. */
export function isGone(error: unknown): undefined {
  if (error instanceof SqlError) throw error;
  return undefined;
}
