/** A disk that is full in truth: what clients are told, what goes on, and that it heals without a restart. */
import { afterEach, expect } from "bun:test";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { execute, postLines, postSql, queryRows } from "../support/http-client.ts";
import { TestServer, temporaryFolder } from "../support/server-process.ts";
import { canMountSmallDisks, mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";

const { test } = standalone("its log and its files are on the full disk");

const canMount = canMountSmallDisks();
const ROWS = 2000;
const TEST_MS_MAX = 60_000;
const CONFIG = (extra: string): string => `
[wal]
segment_size = "1MiB"
[storage]
memtable_size = "1MiB"
${extra}
[write]
stall_timeout = "200ms"
`;

let disk: SmallDisk | undefined;
let server: TestServer | undefined;
let seed = 1;

afterEach(async () => {
  await server?.end();
  await disk?.end();
  server = undefined;
  disk = undefined;
});

async function start(mebibytes: number, extra: string): Promise<{ readonly server: TestServer; readonly disk: SmallDisk }> {
  const folder = await temporaryFolder();
  const mounted = await mountSmallDisk(join(folder, "data"), mebibytes);
  disk = mounted;
  server = await TestServer.start({ config: CONFIG(extra), wrapper: mounted.wrapper }, folder);
  return { server, disk: mounted };
}

/** Rows that do not compress, times from `from` on. */
function batch(from: number): string {
  const lines: string[] = [];
  for (let i = 0; i < ROWS; i++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    lines.push(`m,host=h${i % 10} v=${seed}i,w=${seed / 7} ${from + i}`);
  }
  return lines.join("\n");
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never: ${what}\n${server?.log().slice(-3000)}`);
    await Bun.sleep(50);
  }
}

async function health(url: string): Promise<{ readonly status?: string; readonly reason?: string }> {
  const response = await fetch(`${url}/health`);
  expect(response.status).toBe(200);
  return (await response.json()) as { status?: string; reason?: string };
}

test.skipIf(!canMount)(
  "a full disk: writes get 503, reads go on, nothing acknowledged is lost, and all heals when there is room",
  async () => {
    const { server, disk } = await start(16, 'free_space_min = "0KiB"');
    let acknowledged = 0;
    const write = async (): Promise<number> => {
      const { status, headers, text } = await postLines(server.url, batch(acknowledged * ROWS));
      if (status === 204) acknowledged++;
      else {
        expect([429, 503]).toContain(status);
        expect(headers.get("retry-after")).toMatch(/^\d+$/);
        expect(text).toMatch(/no space left|disk is full|are in memory|database or disk/);
      }
      return status;
    };
    for (let i = 0; i < 3; i++) expect(await write()).toBe(204);
    disk.fill(100);
    await until("a write is refused with 503", async () => (await write()) === 503);
    await until("health says degraded", async () => {
      await write(); // Flushes make room now and then.
      return (await health(server.url)).status === "degraded";
    });
    expect((await queryRows(server.url, "SELECT count(*) FROM m")).rows).toEqual([[acknowledged * ROWS]]);
    await Bun.sleep(1500);
    const linesBefore = server.log().split("\n").length;
    for (let i = 0; i < 50; i++) await write();
    expect(
      server
        .log()
        .split("\n")
        .filter((line) => line.includes("the log takes no writes")).length,
    ).toBeLessThanOrEqual(3);
    expect(server.log().split("\n").length - linesBefore).toBeLessThan(20); // None a refused request.
    disk.empty();
    await until("a write is taken again", async () => (await write()) === 204);
    await until("health is well", async () => (await health(server.url)).status === undefined);
    for (let i = 0; i < 5; i++) expect(await write()).toBe(204);
    expect((await queryRows(server.url, "SELECT count(*) FROM m")).rows).toEqual([[acknowledged * ROWS]]);
    await execute(server.url, "ADMIN flush_table('m')");
    await server.kill();
    await server.restart();
    expect((await queryRows(server.url, "SELECT count(*) FROM m")).rows).toEqual([[acknowledged * ROWS]]);
    expect([...new Bun.Glob("**/*.tmp").scanSync(server.dataHome)]).toEqual([]);
  },
  TEST_MS_MAX,
);

test.skipIf(!canMount)(
  "a disk below its reserve: writes are refused by name, statements that make room work, and writes go on",
  async () => {
    const { server, disk } = await start(32, 'free_space_min = "8MiB"');
    expect((await postLines(server.url, batch(0))).status).toBe(204);
    disk.fill(26);
    await until("a write is refused", async () => (await postLines(server.url, "other v=1i 1")).status === 503);
    const { status, text, headers } = await postLines(server.url, "other v=1i 1");
    expect([status, headers.get("retry-after")]).toEqual([503, "10"]);
    expect(text).toContain("storage.free_space_min");
    expect((await postSql(server.url, "INSERT INTO m (host, v, greptime_timestamp) VALUES ('a', 1, 1)")).status).toBe(503);
    expect((await queryRows(server.url, "SELECT count(*) FROM m")).rows).toEqual([[ROWS]]);
    expect((await health(server.url)).reason).toContain("disk_space: the disk of");
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('varve_degraded{part="disk_space"} 1');
    await execute(server.url, "DROP TABLE m");
    disk.empty();
    await until("a write is taken", async () => (await postLines(server.url, "other v=1i 1")).status === 204);
    const lines = server
      .log()
      .split("\n")
      .filter((line) => line.includes("room on the disk"));
    expect(lines.length).toBe(2);
    await until("health is well", async () => (await health(server.url)).status === undefined);
  },
  TEST_MS_MAX,
);
