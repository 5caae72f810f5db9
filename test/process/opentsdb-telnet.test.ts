/** OpenTSDB's telnet protocol on a running server: puts become rows, bad ones are told, and a server that asks for passwords refuses it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import net from "node:net";
import { freePort } from "../../bench/macro/free-port.ts";
import { type Cell, queryRows } from "../support/http-client.ts";
import { runVarve, TestServer, temporaryFolder } from "../support/server-process.ts";

let server: TestServer;
let port = 0;
beforeAll(async () => {
  server = await TestServer.start({ config: '[opentsdb]\naddr = "127.0.0.1:0"\n' });
  port = await server.telnetPort();
});
afterAll(async () => {
  await server.end();
});

/** Sends text and returns what came back until the connection closed. */
async function talk(text: string | Uint8Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let out = "";
  const socket = net.connect(port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (chunk) => {
    out += chunk.toString();
  });
  socket.on("close", () => resolve(out));
  socket.on("error", reject);
  return await promise;
}

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

test("puts of seconds and milliseconds are rows once the connection ends", async () => {
  expect(await talk("put sys.cpu 1731000000 1.5 host=a dc=x\r\nput sys.cpu 1731000000001 -2 host=b\nexit\n")).toBe("");
  await check('SELECT host, dc, greptime_value, greptime_timestamp FROM "sys.cpu" ORDER BY host', [
    ["a", "x", 1.5, 1731000000000],
    ["b", null, -2, 1731000000001],
  ]);
});

test("each bad put gets its line, the good ones beside it are kept", async () => {
  const bad = ["put", "put m", "put m soon 1 a=b", "put m 1 many a=b", "put m 1 1 a", "put m 1 1 a=b a=c", "put b\x07d 1 1 a=b"];
  const answers = await talk(`put kept 1 1 a=b\n${bad.join("\n")}\nnonsense\nput kept 2 2 a=b\nexit\n`);
  expect(answers.trimEnd().split("\n")).toEqual(
    bad.map(() => expect.stringMatching(/^put: /)).concat([expect.stringMatching(/^unknown command: nonsense/)]),
  );
  await check("SELECT count(*) FROM kept", [[2]]);
});

test("commands, and bytes that are no text", async () => {
  expect(await talk("version\nexit\n")).toMatch(/^varve \d/);
  expect(await talk(Uint8Array.from([0xff, 0xfe, 0x00, 0x0a, ...Buffer.from("exit\n")]))).not.toBe("");
  await check("SELECT 1", [[1]]);
});

test("ten thousand puts on four connections are all there", async () => {
  const lines = (from: number): string =>
    Array.from({ length: 2500 }, (_, i) => `put many ${1_731_000_000 + from + i} ${i} c=${from}\n`).join("");
  await Promise.all([0, 1, 2, 3].map((n) => talk(`${lines(n * 10_000)}exit\n`)));
  await check("SELECT count(*), count(DISTINCT c) FROM many", [[10_000, 4]]);
});

test("it is refused where users have passwords, unless that is said to be meant", async () => {
  const folder = await temporaryFolder();
  const flags = ["--http-addr", "127.0.0.1:0", "--data-home", folder, "--user-provider", "static_user_provider:cmd:u=p"];
  const { status, stderr, stdout } = await runVarve(["standalone", "start", ...flags], {
    GREPTIMEDB_STANDALONE__OPENTSDB__ADDR: `127.0.0.1:${freePort()}`,
  });
  await rm(folder, { recursive: true, force: true });
  expect(status).not.toBe(0);
  expect(stdout + stderr).toContain("opentsdb.allow_unauthenticated");
});
