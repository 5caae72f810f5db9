/** A rehearsal sends what a server answers, leaves no trace in that server, and ends when it is told. */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { TEST_SHARDS } from "../support/shard-count.ts";
import { recordingLogger } from "../support/recording-logger.ts";
import { tableId } from "../../src/base/units.ts";
import { Shards } from "../../src/engine/schema/shards.ts";
import { loadSettings } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/settings.ts";
import { rehearse } from "../../src/rehearsal.ts";
import { rehearsedRequests } from "../../src/rehearsed-requests.ts";

function settingsWith(env: Readonly<Record<string, string>>): Settings {
  const startup = loadSettings({ argv: ["standalone", "start"], env, readFile: () => new Uint8Array() });
  if (startup.kind !== "start") throw new Error("settings of a server");
  return startup.settings;
}

/** What a rehearsal says when it is over. */
async function rehearsed(
  settings: Settings,
  isStopped: boolean,
  asked: () => number = () => 0,
): Promise<Readonly<Record<string, unknown>>> {
  const { logger, entries } = recordingLogger();
  const rehearsal = rehearse(settings, logger, { asked, engine: undefined });
  if (isStopped) rehearsal.stop();
  await rehearsal.over;
  expect(entries.map(({ level, message }) => `${level}: ${message}`)).toEqual(["debug: rehearsed"]);
  return entries[0]?.fields ?? {};
}

test("everything that is sent is answered", async () => {
  const settings = settingsWith({});
  const { writes, reads } = rehearsedRequests(Date.UTC(2026, 0, 1), true);
  const { requests } = await rehearsed(settings, false);
  expect(requests).toBeGreaterThanOrEqual(writes.length);
  expect(reads.filter(({ path }) => path.startsWith("/v1/prometheus/")).length).toBeGreaterThan(0);
});

test("a server without the endpoints of Prometheus rehearses its SQL alone", async () => {
  const { requests } = await rehearsed(settingsWith({ VARVE__PROM_STORE__ENABLE: "false" }), false);
  expect(requests).toBeGreaterThan(0);
  expect(rehearsedRequests(0, false).reads.every(({ body }) => body?.startsWith("sql="))).toBe(true);
});

test("one that is stopped sends nothing more", async () => {
  expect(await rehearsed(settingsWith({}), true)).toMatchObject({ requests: 0 });
});

test("one waits while clients ask, and goes on after that", async () => {
  const settings = settingsWith({ VARVE__PROM_STORE__ENABLE: "false" });
  const alone = (await rehearsed(settings, false)) as { readonly requests: number };
  let looks = 0;
  expect(await rehearsed(settings, false, () => Math.min(++looks, 10))).toEqual(alone);
  expect(looks).toBeGreaterThan(25 + alone.requests); // It was looked at twenty times until it was quiet.
});

test("one that waits is stopped", async () => {
  let asked = 0;
  const rehearsal = rehearse(settingsWith({}), recordingLogger().logger, { asked: () => ++asked, engine: undefined });
  while (asked < 3) await Bun.sleep(10);
  rehearsal.stop();
  await rehearsal.over;
});

/** Counters of statements that are not 0. */
async function statementsOf({ url }: TestServer): Promise<readonly string[]> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return metrics.split("\n").filter((line) => /^varve_statements_total\{.* [1-9]/.test(line));
}

standalone("frontends rehearse nothing").test("a server shows nothing of it, and stops while it is under way", async () => {
  const server = await TestServer.start({ env: { VARVE__QUERY__REHEARSAL: "true", VARVE__LOGGING__LEVEL: "debug" } });
  try {
    await server.running.logged("rehearsed");
    expect(await statementsOf(server)).toEqual([]);
    expect((await queryRows(server.url, "SHOW TABLES")).rows).toEqual([["numbers"]]);
    expect(await statementsOf(server)).not.toEqual([]);
    await server.stop("SIGTERM");
    await server.restart(); // Another begins.
    const { status, stderr } = await server.stop("SIGTERM");
    expect({ status, isStopped: stderr.includes('"msg":"stopped"') }).toEqual({ status: 0, isStopped: true });
  } finally {
    await server.end();
  }
});

/** Which regions are of which table. */
const tables = new Shards(TEST_SHARDS);

standalone("frontends rehearse nothing").test(
  "tables of clients are asked for points of their newest series, and show nothing of it",
  async () => {
    const env = { VARVE__QUERY__REHEARSAL: "true", VARVE__LOGGING__LEVEL: "debug" };
    const server = await TestServer.start({ env });
    try {
      const lines = Array.from(
        { length: 200 },
        (_, i) => `rooms,"name"=it's\\ ${i % 9},floor=f${i % 3} heat=${i},air=${i}i ${1_700_000_000 + i}000000000`,
      );
      await writeLines(server.url, [...lines, "plain v=1 1", 'texts,tag=a v="b" 1'].join("\n"));
      for (const table of ["rooms", "plain", "texts"]) await execute(server.url, `ADMIN flush_table('${table}')`);
      await server.stop("SIGTERM");
      const stored = [...new Bun.Glob("*/*.parquet").scanSync(join(server.dataHome, "data/tables"))];
      const regions = new Set(stored.map((name) => Number(dirname(name))));
      expect([stored.length, new Set([...regions].map((id) => tables.tableOf(tableId(id)))).size]).toEqual([regions.size, 3]);
      await server.restart();
      const { files, asked, refused } = await server.running.logged("rehearsed");
      expect({ files, refused }).toEqual({ files: stored.length, refused: 0 });
      expect(asked).toBeGreaterThan(8); // Of 385: a machine that is busy is asked for no more than two seconds.
      expect(await statementsOf(server)).toEqual([]);
      expect((await queryRows(server.url, "SELECT count(*) FROM rooms")).rows).toEqual([[200]]);
    } finally {
      await server.end();
    }
  },
);
