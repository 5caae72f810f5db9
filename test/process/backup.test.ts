/**
 * `varve backup` and `varve restore` as their users run them, beside a server that takes writes at full rate: the restored store has every
 * write that was acknowledged before the backup began, none that was sent after it ended, and each row once.
 */
import { afterEach, expect } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { runVarve, temporaryFolder, TestServer } from "../support/server-process.ts";

const { describe, test } = standalone("its folder is copied; a cluster is in cluster-backup.test.ts");

const TEST_MS_MAX = 120_000;
const CLIENTS = 6;
const ROWS = 200;

const folders: string[] = [];
const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.end();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const made = await temporaryFolder();
  folders.push(made);
  return made;
}

async function started(config: string, at?: string): Promise<TestServer> {
  const server = await TestServer.start({ config }, at);
  servers.push(server);
  return server;
}

/** Memtables and segments so small that flushes, merges and trims go on all the time. */
function busy(threads: number): string {
  return `[ingest]\nthreads = ${threads}\n[storage]\nmemtable_size = "256KiB"\n[wal]\nsegment_size = "64KiB"\n`;
}

async function sql(base: string, text: string): Promise<string> {
  const response = await fetch(`${base}/v1/sql?format=csv&sql=${encodeURIComponent(text)}`);
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`${text} answered ${response.status}: ${answer}`);
  return answer.trim();
}

/** One connection that writes batches of rows, each a table's next `batch` number, until it is told to stop. */
class Client {
  /** Batches that were sent, and that were acknowledged, each from 0 on. */
  sent = 0;
  acknowledged = 0;
  private isStopping = false;
  private readonly running: Promise<void>;

  constructor(base: string, number: number) {
    this.running = this.run(base, number);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async run(base: string, number: number): Promise<void> {
    while (!this.isStopping) {
      const batch = this.sent++;
      const lines = Array.from({ length: ROWS }, (_, row) => {
        const table = `t${(number + row) % 3}`;
        return `${table},client=c${number},row=r${row} batch=${batch}i ${(batch + 1) * 1_000_000_000}`;
      });
      // On a connection of its own, so that the next batch goes to another thread.
      const init = { method: "POST", body: lines.join("\n"), keepalive: false, headers: { connection: "close" } };
      const response = await fetch(`${base}/v1/influxdb/write`, init);
      if (response.status !== 204) throw new Error(`a write answered ${response.status}: ${await response.text()}`);
      this.acknowledged++;
    }
  }
}

/** Batches of a client that are in a store: how many rows each has. */
async function batchesOf(base: string, number: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const table of ["t0", "t1", "t2"]) {
    const text = await sql(base, `SELECT batch, count(*) FROM ${table} WHERE client = 'c${number}' GROUP BY batch`);
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const [batch, count] = line.split(",").map(Number);
      counts.set(batch!, (counts.get(batch!) ?? 0) + count!);
    }
  }
  return counts;
}

describe.each([1, 3])("beside full ingest, with ingest.threads = %i", (threads) => {
  test(
    "a backup restores what was acknowledged at its moment, and a second one copies what is new",
    async () => {
      const server = await started(busy(threads));
      const target = join(await folder(), "backups");
      const clients = Array.from({ length: CLIENTS }, (_, number) => new Client(server.url, number));
      await Bun.sleep(1500);
      const bounds: { readonly before: readonly number[]; readonly after: readonly number[] }[] = [];
      for (let i = 0; i < 2; i++) {
        const before = clients.map(({ acknowledged }) => acknowledged);
        const ended = await runVarve(["backup", target, "--url", server.url, "--json"]);
        const after = clients.map(({ sent }) => sent);
        expect([ended.status, ended.stderr]).toEqual([0, ""]);
        bounds.push({ before, after });
        await Bun.sleep(200);
      }
      for (const client of clients) await client.stop();
      const listed = await runVarve(["backup", "--list", "--json", target]);
      const ids = listed.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { readonly id: string }).id);
      expect(ids).toHaveLength(2);
      for (const [i, id] of ids.entries()) {
        const place = await folder();
        const restored = await runVarve(["restore", target, "--data-home", join(place, "data"), "--backup", id]);
        expect([restored.status, restored.stderr]).toEqual([0, ""]);
        const copy = await started(busy(threads), place);
        for (let number = 0; number < CLIENTS; number++) {
          const found = await batchesOf(copy.url, number);
          const { before, after } = bounds[i]!;
          // A prefix of the client's batches, each whole: one is sent once the one before it was acknowledged.
          expect(found.size).toBeGreaterThanOrEqual(before[number]!);
          expect(found.size).toBeLessThanOrEqual(after[number]!);
          for (let batch = 0; batch < found.size; batch++) expect([batch, found.get(batch)]).toEqual([batch, ROWS]);
        }
        await copy.stop();
      }
    },
    TEST_MS_MAX,
  );
});

test(
  "an account that may not read is refused, and a wrong password is not shown",
  async () => {
    const home = await folder();
    await Bun.write(join(home, "users"), "admin=secret-1\nwriter:wo=secret-2\n");
    const server = await TestServer.start({ flags: ["--user-provider", `static_user_provider:file:${join(home, "users")}`] });
    servers.push(server);
    const run = (user: string, password: string): ReturnType<typeof runVarve> =>
      runVarve(["backup", join(home, "b"), "--url", server.url, "--user", user], { VARVE_PASSWORD: password });
    const refused = await run("writer", "secret-2");
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("not authorized")]);
    const wrong = await run("admin", "not-this-one");
    expect(wrong.status).toBe(1);
    expect(wrong.stderr + wrong.stdout).not.toContain("not-this-one");
    expect(existsSync(join(home, "b"))).toBe(false);
    expect((await run("admin", "secret-1")).status).toBe(0);
  },
  TEST_MS_MAX,
);
