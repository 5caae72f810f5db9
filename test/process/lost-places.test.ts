/** Parts of the data directory that vanish under a running server: it acknowledges nothing while the next start would not find it. */
import { expect } from "bun:test";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const { test } = standalone("parts of its folder vanish");

const TEST_MS_MAX = 60_000;

async function write(url: string, line: string): Promise<number> {
  return (await fetch(`${url}/v1/influxdb/write`, { method: "POST", body: line, keepalive: false })).status;
}

async function health(url: string): Promise<{ readonly status: string; readonly text: string }> {
  const text = await (await fetch(`${url}/health`)).text();
  return { status: String((JSON.parse(text) as { readonly status?: string }).status), text };
}

/** Writes until a write is refused. Returns how many were not. */
async function writeUntilRefused(url: string): Promise<number> {
  for (let i = 1; ; i++) {
    const status = await write(url, `cpu,host=a v=${i}i ${i}`);
    if (status === 503) return i - 1;
    expect(status).toBe(204);
    await Bun.sleep(20);
  }
}

// Beside each other, since they mostly wait: the server looks after its files now and then.
test.concurrent.each([
  ["meta.db", 1, "the meta store"],
  ["meta.db", 2, "the meta store"],
  ["wal", 1, "the log directory"],
  ["wal/ends", 1, "the log"],
  ["data", 1, "the folder of the data files"],
  ["LOCK", 1, "the lock of the data directory"],
])(
  "%s, moved away under a server with %i ingest threads: writes are refused, health says why, reads go on; back, all is well",
  async (name, threads, what) => {
    await using server = await TestServer.start({ config: `[ingest]\nthreads = ${threads}\n` });
    const { url } = server;
    expect(await write(url, "cpu,host=a v=0i 1")).toBe(204);
    const path = join(server.dataHome, name);
    renameSync(path, `${path}.away`);
    await writeUntilRefused(url);
    const said = await health(url);
    expect(said.status).toBe("degraded");
    expect(said.text).toContain(`${what} ${path}: it was deleted or moved away while the server runs`);
    expect((await queryRows(url, "SELECT count(*) > 0 FROM cpu")).rows).toEqual([[true]]);
    renameSync(`${path}.away`, path);
    while ((await health(url)).status === "degraded") await Bun.sleep(20);
    for (let i = 0; i < 4; i++) expect(await write(url, `cpu,host=b v=1i ${i}`)).toBe(204); // Connections land on any thread.
    await server.stop();
    await server.restart();
    expect((await queryRows(server.url, "SELECT count(*) FROM cpu WHERE host = 'b'")).rows).toEqual([[4]]);
  },
  TEST_MS_MAX,
);

test.concurrent(
  "a meta store that is replaced by a copy: no flush is committed to the one that nobody finds, and a start has all rows",
  async () => {
    await using server = await TestServer.start();
    const path = join(server.dataHome, "meta.db");
    expect(await write(server.url, "cpu,host=z v=0i 1")).toBe(204);
    await Bun.sleep(1500); // The server has put what it committed into the file by then.
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    const flush = await fetch(`${server.url}/v1/sql?sql=${encodeURIComponent("ADMIN flush_table('cpu')")}`);
    expect([flush.status, await flush.text()]).toEqual([
      503,
      expect.stringContaining("another was put in its place while the server runs"),
    ]);
    const taken = await writeUntilRefused(server.url);
    await server.kill();
    await server.restart();
    expect((await queryRows(server.url, "SELECT count(*) FROM cpu")).rows).toEqual([[taken + 1]]);
  },
  TEST_MS_MAX,
);
