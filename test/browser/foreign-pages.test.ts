/** Pages of other origins in a real browser, beside a server without configuration: they read nothing and change nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";
import { queryRows, send, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";
import { attackScript, DROPPED } from "./attacks.ts";
import { hasChromium, type Page, withPage } from "./chromium.ts";

const TIMEOUT_MS = 240_000;
const WORD = "xyzzy-4711";

if (!hasChromium) process.stderr.write("test/browser is skipped: there is no /usr/bin/chromium\n");

/** A page of somebody else's. */
const hostile = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response("<!DOCTYPE html><body></body>", { headers: { "content-type": "text/html" } }),
});
afterAll(() => hostile.stop(true));

/** What a page could have changed. */
interface State {
  readonly tables: readonly unknown[];
  readonly databases: readonly unknown[];
  readonly words: readonly unknown[];
  readonly pipelines: number;
  readonly files: readonly string[];
}

async function stateOf(server: TestServer): Promise<State> {
  const { rows: tables } = await queryRows(server.url, "SHOW TABLES");
  const { rows: databases } = await queryRows(server.url, "SHOW DATABASES");
  const { rows: words } = await queryRows(server.url, "SELECT word FROM secret");
  const { status } = await send(`${server.url}/v1/pipelines/evil`);
  const files = await readdir(join(server.folder, "data", "copy")).catch((): string[] => []);
  return { tables, databases, words, pipelines: status, files };
}

async function startServer(http: string): Promise<{ readonly server: TestServer; readonly telnet: string }> {
  const telnet = freePort();
  const server = await TestServer.start({ config: `[opentsdb]\naddr = "127.0.0.1:${telnet}"\n[ingest]\nthreads = 2\n[http]\n${http}\n` });
  await writeLines(server.url, `secret word="${WORD}" 1\n${DROPPED.map((table) => `${table} v=1 1`).join("\n")}`);
  return { server, telnet: `http://127.0.0.1:${telnet}` };
}

/** What a page at `from` read. */
async function attack(page: Page, from: string, url: string, telnet: string): Promise<Readonly<Record<string, string>>> {
  await page.open(from);
  return (await page.run(attackScript({ url, telnet }))) as Readonly<Record<string, string>>;
}

describe.skipIf(!hasChromium)("a page of another origin", () => {
  let plain: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    plain = await startServer("");
  }, TIMEOUT_MS);
  afterAll(async () => plain.server.end());

  test.each([
    ["of the same site", "127.0.0.1", ""],
    ["of another site", "evil.example", "MAP evil.example 127.0.0.1"],
  ])(
    "%s reads nothing and changes nothing",
    async (_, host, rules) => {
      const { server, telnet } = plain;
      const before = await stateOf(server);
      expect(before.words).toEqual([[WORD]]);
      await withPage(rules, async (page) => {
        const read = await attack(page, `http://${host}:${hostile.port}/`, server.url, telnet);
        expect(Object.keys(read).length).toBeGreaterThan(10);
        expect(Object.entries(read).filter(([, text]) => text !== "")).toEqual([]);
      });
      expect(await stateOf(server)).toEqual(before);
      const { text } = await send(`${server.url}/debug/log_level`, { method: "POST", body: "info" });
      expect(text).toBe("Log Level changed from info to info");
    },
    TIMEOUT_MS,
  );

  test(
    "under a name that was made to point here is refused",
    async () => {
      await withPage("MAP rebound.example 127.0.0.1", async (page) => {
        await page.open(`http://rebound.example:${new URL(plain.server.url).port}/`);
        expect(await page.run("document.body.textContent")).toContain("cannot answer under the name");
      });
    },
    TIMEOUT_MS,
  );

  test(
    "of the server itself reads and writes",
    async () => {
      await withPage("", async (page) => {
        await page.open(`${plain.server.url}/`);
        expect(await page.run("document.title")).toBe("Varve");
        const read = await page.run(
          `fetch("/v1/sql?sql=" + encodeURIComponent("SELECT word FROM secret")).then((answer) => answer.text())`,
        );
        expect(read).toContain(WORD);
        const wrote = await page.run(`fetch("/v1/influxdb/write", { method: "POST", body: "own v=1 1" }).then((answer) => answer.status)`);
        expect(wrote).toBe(204);
      });
      expect((await queryRows(plain.server.url, "SELECT v FROM own")).rows).toEqual([[1]]);
    },
    TIMEOUT_MS,
  );

  test.skipIf(process.env["VARVE_BROWSER"] !== "1")(
    "may do what it likes where the configuration says so: the attacks are real",
    async () => {
      const { server, telnet } = await startServer('cors_allowed_origins = ["*"]');
      try {
        await withPage("MAP evil.example 127.0.0.1", async (page) => {
          const read = await attack(page, `http://evil.example:${hostile.port}/`, server.url, telnet);
          for (const way of ["fetch", "fetch, POST", "XMLHttpRequest"]) expect(read[way]).toContain(WORD);
        });
        const { rows } = await queryRows(server.url, "SHOW TABLES");
        const left = rows.map(([name]) => name);
        expect(left.filter((name) => DROPPED.includes(String(name)))).toEqual([]);
        expect(left).toContain("evil");
      } finally {
        await server.end();
      }
    },
    TIMEOUT_MS,
  );
});
