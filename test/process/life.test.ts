/** Start, stop and sudden end: what was acknowledged is there afterwards, and a directory has one server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { IN_CLUSTER, standalone } from "../support/cluster/standalone.ts";
import { execute, postLines, queryRows, writeLines } from "../support/http-client.ts";
import { openRequest } from "../support/raw-request.ts";
import { launchVarve, runVarve, TestServer } from "../support/server-process.ts";

const ROWS = 20_000;

/** Lines of one table: `ROWS` rows in ten series, one second apart, from `start` seconds on. */
function linesOf(start: number): string {
  return Array.from({ length: ROWS }, (_, i) => `life,host=h${i % 10} v=${i}i,f=${i / 4} ${start + Math.floor(i / 10)}`).join("\n");
}

let server: TestServer;
/** Rows that were acknowledged so far. */
let acknowledged = 0;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

/** Null for the failure of a connection that the server closed or refused; any other failure is passed on. */
function asConnectionLost(error: unknown): null {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(?:ECONNRESET|ECONNREFUSED|ConnectionRefused|ConnectionClosed)$/.test(code)) throw error;
  return null;
}

async function write(): Promise<void> {
  await writeLines(server.url, linesOf(1_700_000_000 + acknowledged), { query: { precision: "s" } });
  acknowledged += ROWS;
}

async function checkRows(): Promise<void> {
  const { rows } = await queryRows(server.url, "SELECT count(*), count(v), count(f), min(v), max(v) FROM life");
  expect(rows).toEqual([[acknowledged, acknowledged, acknowledged, 0, ROWS - 1]]);
}

describe("a clean stop", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s ends with 0 once all rows are in files: none is missing without the log", async (name) => {
    await write();
    const { status, signal, stderr } = await server.stop(name);
    expect({ status, signal }).toEqual({ status: 0, signal: null });
    expect(stderr).toContain(`"why":"${name}"`);
    if (!IN_CLUSTER) await rm(`${server.dataHome}/wal`, { recursive: true });
    await server.restart();
    await checkRows();
  });

  test("waits for a request that is on its way, and keeps its rows", async () => {
    const lines = linesOf(1_700_000_000 + acknowledged);
    const request = await openRequest(server.processUrl, "POST /v1/influxdb/write?precision=s", { "content-length": String(lines.length) });
    request.write(lines.slice(0, 1000));
    await queryRows(server.processUrl, "SELECT 1"); // a whole turn: the server has seen the beginning
    server.running.signal("SIGTERM");
    await server.running.logged("stopping");
    request.write(lines.slice(1000));
    expect(await request.answer()).toMatch(/^HTTP\/1\.1 204 /);
    acknowledged += ROWS;
    expect((await server.running.ended()).status).toBe(0);
    await server.restart();
    await checkRows();
  });

  test("under load: writers are cut off, and every row they were promised is there", async () => {
    let sent = 0;
    let promised = 0;
    const writer = async (name: string): Promise<void> => {
      for (let n = 0; n < 1000; n++) {
        const lines = Array.from({ length: 50 }, (_, i) => `loaded,writer=${name} n=${n}i ${n * 50 + i}`).join("\n");
        sent += 50;
        const status = await postLines(server.url, lines).then((answer) => answer.status, asConnectionLost);
        if (status !== 204) return;
        promised += 50;
      }
    };
    let isOver = false;
    const writers = Promise.all(["a", "b", "c", "d"].map(writer)).finally(() => {
      isOver = true;
    });
    while (promised < 2000 && !isOver) await Bun.sleep(1);
    expect((await server.stop()).status).toBe(0);
    await writers;
    await server.restart();
    const count = Number((await queryRows(server.url, "SELECT count(*) FROM loaded")).rows[0]?.[0]);
    expect(count).toBeGreaterThanOrEqual(promised);
    expect(count).toBeLessThanOrEqual(sent);
  });

  test("does not wait for readers that left in the middle of an answer", async () => {
    for (let n = 0; n < 5; n++) {
      const request = await openRequest(server.processUrl, "GET /v1/sql?sql=SELECT+*+FROM+life+ORDER+BY+v", {});
      await request.begun();
      request.close();
    }
    await checkRows();
    const { status, stderr } = await server.stop();
    expect({ status, hasTrouble: /"level":"(?:warn|error)"/.test(stderr) }).toEqual({ status: 0, hasTrouble: false });
    await server.restart();
  });

  test("a second signal ends it at once, and what was acknowledged is there", async () => {
    await write();
    const request = await openRequest(server.processUrl, "POST /v1/influxdb/write", { "content-length": "1000" });
    request.write("life,host=h1 v=1i");
    await queryRows(server.processUrl, "SELECT 1");
    server.running.signal("SIGTERM");
    await server.running.logged("stopping");
    server.running.signal("SIGTERM");
    expect((await server.running.ended()).status).toBe(1);
    request.close();
    await server.restart();
    await checkRows();
  });
});

describe("a sudden end", () => {
  test("loses nothing that was acknowledged, in memory or in files", async () => {
    await write();
    await execute(server.url, "ADMIN flush_table('life')");
    await write();
    await server.kill();
    await server.restart();
    if (!IN_CLUSTER) expect(server.running.stderr()).toContain("replayed the log");
    await checkRows();
  });

  test("a signal during the start ends with 0 and loses nothing", async () => {
    await write();
    await server.kill();
    // The warning is logged when signals are heard already and the log is not replayed yet.
    const starting = launchVarve([...(await server.flags()), "--log-dir", "logs"]);
    await starting.logged("--log-dir has no effect: log lines go to stderr; redirect them to keep them in files");
    starting.signal("SIGTERM");
    const { status, stderr } = await starting.ended();
    expect({ status, isStopped: stderr.includes('"msg":"stopped"') }).toEqual({ status: 0, isStopped: true });
    await server.restart();
    await checkRows();
  });

  test("a kill during the start loses nothing", async () => {
    await write();
    await server.kill();
    const starting = launchVarve([...(await server.flags()), "--log-dir", "logs"]);
    await starting.logged("--log-dir has no effect: log lines go to stderr; redirect them to keep them in files");
    starting.signal("SIGKILL");
    await starting.ended();
    await server.restart();
    await checkRows();
  });
});

describe("the data directory", () => {
  standalone("its folder").test("has one server: a second one names the first one's pid and ends", async () => {
    const { status, stderr } = await runVarve(await server.flags());
    expect(status).toBe(1);
    expect(stderr).toMatch(/^varve: [^\n]+\n$/);
    expect(stderr).toContain(`the server with pid ${server.running.pid} uses it`);
    await checkRows();
  });

  test("a server with files is ready again after every stop", async () => {
    expect(existsSync(`${server.dataHome}/data`)).toBe(true);
    for (let turn = 0; turn < 3; turn++) {
      await server.stop();
      await server.restart();
    }
    await checkRows();
  });
});
