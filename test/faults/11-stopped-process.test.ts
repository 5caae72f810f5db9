/**
 * Fault 11: the process is stopped (SIGSTOP) for a while, as by a debugger, a full container or a paused machine. When it goes on, requests
 * that waited are answered, nothing acknowledged is lost, and no timer that ran out meanwhile does harm. VARVE_STOP_SECONDS=30 is the long
 * form.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postLines, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

const STOP_MS = Number(process.env["VARVE_STOP_SECONDS"] ?? "3") * 1000;
const WRITERS = 4;
const ROWS = 50;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: '[storage]\nmemtable_size = "64KiB"\nflush_interval = "1s"\n[wal]\nsegment_size = "64KiB"\n' });
});
afterAll(async () => {
  await server.end();
});

test(
  "a server that was stopped under load goes on where it was",
  async () => {
    let isOver = false;
    let acknowledged = 0;
    const refused: string[] = [];
    const writer = async (name: string): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const lines = Array.from({ length: ROWS }, (_, i) => `stopped,writer=${name} n=${n}i ${n * ROWS + i}`).join("\n");
        const { status, text } = await postLines(server.processUrl, lines);
        if (status === 204) acknowledged += ROWS;
        else refused.push(`${status} ${text}`);
        await Bun.sleep(5);
      }
    };
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(`w${i}`)));
    while (acknowledged < 20 * ROWS) await Bun.sleep(5);
    process.kill(server.running.pid, "SIGSTOP");
    const before = acknowledged;
    await Bun.sleep(STOP_MS);
    expect(acknowledged - before).toBeLessThanOrEqual(WRITERS * ROWS); // What was on its way back.
    process.kill(server.running.pid, "SIGCONT");
    while (acknowledged < before + 20 * ROWS && refused.length === 0) await Bun.sleep(5);
    isOver = true;
    await writers;
    expect(refused).toEqual([]);
    const count = async (): Promise<unknown> => (await queryRows(server.url, "SELECT count(*) FROM stopped")).rows[0]?.[0];
    expect(await count()).toBe(acknowledged);
    await server.kill();
    await server.restart();
    expect(await count()).toBe(acknowledged);
    expect(server.log()).not.toMatch(/"level":"error"/);
  },
  STOP_MS + 20_000,
);
