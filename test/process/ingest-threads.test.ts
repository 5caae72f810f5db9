/**
 * Several ingest threads in a real server: connections land on any of them, and no client can tell which. Every request here has a
 * connection of its own, so that the system spreads them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";
import { seededRandom } from "../../bench/macro/random.ts";
import { standalone } from "../support/cluster/standalone.ts";
import { temporaryFolder, TestServer } from "../support/server-process.ts";

const TEST_MS_MAX = 60_000;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request on a connection of its own. Undefined when the connection broke. */
async function once(url: string, body?: string): Promise<Answer | undefined> {
  const init = { keepalive: false, headers: { connection: "close" }, ...(body === undefined ? {} : { method: "POST", body }) };
  return await fetch(url, init).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    () => undefined,
  );
}

async function write(base: string, lines: string): Promise<void> {
  const answer = await once(`${base}/v1/influxdb/write`, lines);
  if (answer?.status !== 204) throw new Error(`a write answered ${answer?.status}: ${answer?.text}`);
}

async function sql(base: string, text: string): Promise<string> {
  const answer = await once(`${base}/v1/sql?format=csv&sql=${encodeURIComponent(text)}`);
  if (answer?.status !== 200) throw new Error(`${text} answered ${answer?.status}: ${answer?.text}`);
  return answer.text.trim();
}

function config(threads: number, more = ""): string {
  return `${more}\n[ingest]\nthreads = ${threads}\n[storage]\nmemtable_size = "256KiB"\n[wal]\nsegment_size = "64KiB"\n`;
}

describe.each([1, 2, 3])("with ingest.threads = %i", (threads) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ config: config(threads) });
  });
  afterAll(async () => {
    await server.end();
  });

  test(
    "clients that make tables and columns at the same time each see what they wrote at once",
    async () => {
      const CLIENTS = 8;
      const ROUNDS = 12;
      const client = async (number: number): Promise<void> => {
        for (let round = 0; round < ROUNDS; round++) {
          const lines = Array.from(
            { length: 20 },
            (_, i) => `race${round % 3},client=c${number},extra${round % 4}=x v=${i}i,field${(number + round) % 5}=1 ${round * 1000 + i}`,
          );
          await write(server.url, lines.join("\n"));
          const got = await sql(server.url, `SELECT count(*) FROM race${round % 3} WHERE client = 'c${number}'`);
          expect(got).toBe(String(20 * (Math.floor(round / 3) + 1)));
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
      const total = await sql(server.url, "SELECT count(*), count(v), sum(v) FROM race0");
      expect(total).toBe([CLIENTS * ROUNDS * 20, CLIENTS * ROUNDS * 20, CLIENTS * ROUNDS * 190].map((n) => n / 3).join(","));
    },
    TEST_MS_MAX,
  );

  test(
    "logical tables of one physical table, with labels that any client may bring, show each client what it wrote",
    async () => {
      await sql(server.url, "CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '')");
      for (const name of ["up", "down"]) {
        const columns = "ts TIMESTAMP TIME INDEX, val DOUBLE, client STRING PRIMARY KEY";
        await sql(server.url, `CREATE TABLE ${name} (${columns}) ENGINE=metric WITH ('on_physical_table' = 'phy')`);
      }
      const client = async (number: number): Promise<void> => {
        for (let round = 1; round <= 8; round++) {
          const lines = ["up", "down"].flatMap((table) =>
            Array.from(
              { length: 10 },
              (_, i) => `${table},client=c${number},label${(number + round) % 5}=x val=1 ${round * 100 + i}000000`,
            ),
          );
          await write(server.url, lines.join("\n"));
          expect(await sql(server.url, `SELECT count(*) FROM up WHERE client = 'c${number}'`)).toBe(String(10 * round));
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, number) => client(number)));
      expect(await sql(server.url, "SELECT count(*) FROM phy")).toBe("960");
      await sql(server.url, "TRUNCATE TABLE up");
      await Promise.all(Array.from({ length: 6 }, (_, number) => write(server.url, `up,client=c${number} val=1 1000000`)));
      expect(await sql(server.url, "SELECT count(*) FROM up")).toBe("6");
      expect(await sql(server.url, "SELECT count(*) FROM phy")).toBe("486");
    },
    TEST_MS_MAX,
  );

  test(
    "a table that is dropped, emptied, renamed or changed holds what was written since, on whatever connection",
    async () => {
      const life = async (name: string, seed: number): Promise<void> => {
        const random = seededRandom(seed);
        let table = name;
        let rows = 0;
        await write(server.url, `${table},host=h0 v=0i 1`);
        rows = 1;
        for (let step = 0; step < 25; step++) {
          const dice = random.below(6);
          if (dice === 0) {
            await sql(server.url, `DROP TABLE ${table}`);
            rows = 0;
          } else if (dice === 1 && rows > 0) {
            await sql(server.url, `TRUNCATE TABLE ${table}`);
            rows = 0;
          } else if (dice === 2 && rows > 0) {
            await sql(server.url, `ALTER TABLE ${table} RENAME ${name}_${step}`);
            table = `${name}_${step}`;
          } else if (dice === 3 && rows > 0) {
            await sql(server.url, `ADMIN flush_table('${table}')`);
          }
          const lines = Array.from(
            { length: 1 + random.below(10) },
            (_, i) => `${table},host=h${random.below(4)} v=${i}i ${step * 100 + i + 10}`,
          );
          await write(server.url, lines.join("\n"));
          rows += lines.length;
          expect(await sql(server.url, `SELECT count(*) FROM ${table}`)).toBe(String(rows));
        }
      };
      await Promise.all([1, 2, 3].map((seed) => life(`life${seed}`, seed)));
    },
    TEST_MS_MAX,
  );
});

test(
  "rows survive SIGKILL, SIGTERM and other numbers of threads",
  async () => {
    const server = await TestServer.start({ config: config(3) });
    let written = 0;
    let sent = 0;
    const writer = async (number: number, until: () => boolean): Promise<void> => {
      while (!until()) {
        const at = sent++;
        const lines = Array.from({ length: 50 }, (_, i) => `kept,host=h${(at + i) % 30},writer=w${number} v=${i}i ${at * 100 + i}`);
        const answer = await once(`${server.url}/v1/influxdb/write`, lines.join("\n"));
        if (answer === undefined) return;
        if (answer.status !== 204) throw new Error(`a write answered ${answer.status}: ${answer.text}`);
        written += lines.length;
      }
    };
    for (const [how, next] of [
      ["SIGKILL", 1],
      ["SIGTERM", 3],
      ["SIGKILL", 2],
    ] as const) {
      const ended = performance.now() + 400;
      const writers = Array.from({ length: 6 }, (_, number) => writer(number, () => performance.now() > ended));
      await Bun.sleep(200);
      if (how === "SIGKILL") await server.kill();
      else await server.stop();
      await Promise.all(writers);
      await server.restart({ config: config(next) });
      const count = Number(await sql(server.url, "SELECT count(*) FROM kept"));
      expect(count).toBeGreaterThanOrEqual(written);
      expect((count - written) % 50).toBe(0); // A request that was not answered is there whole or not at all.
      written = count;
      await sql(server.url, "ADMIN flush_table('kept')");
    }
    await server.end();
  },
  TEST_MS_MAX,
);

standalone("logs of its threads").test(
  "logs of threads that are no longer there are replayed, and removed once their rows are in files",
  async () => {
    const server = await TestServer.start({ config: config(3) });
    const folders = (): string[] => readdirSync(join(server.dataHome, "wal")).filter((name) => name.startsWith("thread-"));
    for (let i = 0; i < 30; i++) await write(server.url, `old,host=h${i} v=${i}i ${i}`);
    expect(folders().sort()).toEqual(["thread-1", "thread-2"]);
    await server.kill();
    await server.restart({ config: config(1) });
    expect(await sql(server.url, "SELECT count(*) FROM old")).toBe("30");
    await sql(server.url, "ADMIN flush_table('old')");
    expect(folders()).toEqual([]);
    expect(await sql(server.url, "SELECT count(*) FROM old")).toBe("30");
    await server.end();
  },
  TEST_MS_MAX,
);

standalone("ingest threads").test(
  "metrics are those of all threads, and a change of the log level reaches them",
  async () => {
    const server = await TestServer.start({ config: config(3) });
    for (let i = 0; i < 24; i++) await write(server.url, `m,host=h${i} v=1i ${i}`);
    const answer = await once(`${server.url}/metrics`);
    expect(answer?.text).toContain(
      'greptime_servers_http_requests_total{method="POST",path="/v1/influxdb/write",code="204",db="public"} 24\n',
    );
    await once(`${server.url}/debug/log_level`, "debug");
    const refusals = (): number => server.log().split("a request was refused").length - 1;
    // Threads hear of it a moment later: from some round on, all of them log each request.
    for (let logged = 0; logged < 24; ) {
      const before = refusals();
      for (let i = 0; i < 24; i++) await once(`${server.url}/v1/influxdb/write?db=nowhere`, "m v=1i 1");
      await Bun.sleep(50);
      logged = refusals() - before;
    }
    await server.end();
  },
  TEST_MS_MAX,
);

standalone("ingest threads").test.each([
  ["throwing-ingest-worker.ts", "broken on purpose"],
  ["exiting-ingest-worker.ts", "it exited"],
])(
  "a thread that breaks (%s) ends the process; what it acknowledged is there at the next start",
  async (script, why) => {
    const folder = await temporaryFolder();
    const port = freePort();
    const base = `http://127.0.0.1:${port}`;
    const dataHome = join(folder, "data");
    const configFile = join(folder, "varve.toml");
    await Bun.write(configFile, config(2));
    const program = join(import.meta.dir, "../support/faulty-server.ts");
    const flags = ["--http-addr", `127.0.0.1:${port}`, "--data-home", dataHome, "--config-file", configFile];
    const child = Bun.spawn([process.execPath, program, `./${script}`, ...flags], { stdout: "ignore", stderr: "pipe" });
    const stderr = child.stderr.text();
    while ((await once(`${base}/health`))?.status !== 200) await Bun.sleep(5);
    let acknowledged = 0;
    for (let i = 0; child.exitCode === null; i++) {
      const answer = await once(`${base}/v1/influxdb/write`, `cpu,host=h${i % 7} v=${i}i ${i}`);
      if (answer?.status === 204) acknowledged = i + 1;
      else if (answer !== undefined) throw new Error(`a write answered ${answer.status}: ${answer.text}`);
      else break;
    }
    await child.exited;
    expect(child.exitCode).toBe(1);
    expect(await stderr).toContain(why);
    const server = await TestServer.start({ config: config(1) }, folder);
    expect(Number(await sql(server.url, "SELECT count(*) FROM cpu"))).toBeGreaterThanOrEqual(acknowledged);
    await server.end();
    if (existsSync(folder)) await rm(folder, { recursive: true });
  },
  TEST_MS_MAX,
);
