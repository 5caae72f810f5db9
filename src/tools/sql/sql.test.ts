import { afterAll, beforeAll, expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { TestServer } from "../../../test/support/server-process.ts";
import { type ToolEnding, toolRun } from "../../../test/support/tool-run.ts";
import { sql } from "./sql.ts";

/** Tables whose product takes long. */
const SLOW = ["a", "b", "c", "d"].map((name) => `information_schema.columns ${name}`).join(", ");

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
}, 60_000);
afterAll(async () => {
  await server.end();
});

const run = (args: readonly string[], stdin?: string): Promise<ToolEnding> =>
  toolRun(sql, ["--url", server.url, ...args], stdin === undefined ? {} : { stdin });

test("statements of a pipe run in order, and end at the first that fails", async () => {
  const text =
    "create table t (ts timestamp time index, a bigint, s string);\ninsert into t values (1, 9007199254740993, ''), (2, null, null);\n";
  expect(await run([], text)).toEqual({ status: 0, out: "", err: "" });
  expect(await run(["select a, s from t order by ts"])).toEqual({ status: 0, out: 'a,s\n9007199254740993,""\n,\n', err: "" });
  const failed = await run([], "select 1 as one;\n\nselect nope;\nselect 2");
  expect([failed.status, failed.out]).toEqual([1, "one\n1\n"]);
  expect(failed.err).toMatch(/^line 3: error 3000: .*nope.*\n3 \| select nope\n {11}\^~~~\n$/);
});

test("formats and databases", async () => {
  expect((await run(["-F", "json", "select 1 a, 'x' b, null c"])).out).toBe('{"a":1,"b":"x"}\n');
  expect((await run(["-F", "table", "select 1 a"])).out).toBe("a\n-\n1\n");
  expect((await run([], "create database other; use other; select database() d")).out).toBe("d\nother\n");
  expect((await run(["--db", "nowhere", "select 1"])).err).toContain("nowhere");
  expect((await run([], "set time_zone = '+02:00'; select timezone() z")).out).toBe("z\n+02:00\n");
  expect((await run([], "set time_zone = 'Nowhere/Land'")).status).toBe(1);
});

test("wrong command lines are refused", async () => {
  for (const args of [
    ["a", "b"],
    ["-f", "x", "a"],
    ["-F", "nope", "a"],
    ["--user", "a", "select 1"],
    ["--insecure", "select 1"],
    ["-f", "/no/such"],
  ])
    expect((await run(args)).status).toBe(2);
  const gone = await toolRun(sql, ["--url", "http://127.0.0.1:1", "select 1"]);
  expect([gone.status, gone.err]).toEqual([1, expect.stringContaining("nobody listens there")]);
});

test("large answers are streamed", async () => {
  const { out } = await run([
    "-F",
    "csv",
    "select count(*) c from (select a.column_name from information_schema.columns a, information_schema.columns b)",
  ]);
  const wide = await run(["-F", "csv", "select a.column_name from information_schema.columns a, information_schema.columns b"]);
  expect(wide.out.split("\n").length - 2).toBe(Number(out.split("\n")[1]));
});

test("an aborted statement ends on the server too", async () => {
  const leaving = new AbortController();
  const slow = `select count(*) from ${SLOW}`;
  const running = toolRun(sql, ["--url", server.url, slow], { signal: leaving.signal });
  const listed = async (): Promise<boolean> => (await run(["select query from information_schema.process_list"])).out.includes("columns d");
  for (let i = 0; i < 100 && !(await listed()); i++) await Bun.sleep(20);
  leaving.abort();
  expect(await running).toEqual({ status: 130, out: "", err: "cancelled\n" });
  for (let i = 0; i < 100 && (await listed()); i++) await Bun.sleep(20);
  expect((await run(["select query from information_schema.process_list where query like '%columns d'"])).out).toBe("query\n");
});

test("the prompt on a terminal", async () => {
  let shown = "";
  const child = Bun.spawn([process.execPath, "run", resolve(import.meta.dir, "../../main.ts"), "sql", "--url", server.url], {
    env: { ...process.env, XDG_STATE_HOME: join(server.folder, "state"), TERM: "xterm" },
    terminal: { cols: 100, rows: 30, data: (_terminal, bytes) => void (shown += Buffer.from(bytes).toString()) },
  });
  const seen = async (text: string): Promise<void> => {
    for (let i = 0; i < 500 && !shown.includes(text); i++) await Bun.sleep(20);
    expect(shown).toContain(text);
    shown = shown.slice(shown.indexOf(text) + text.length);
  };
  const type = (text: string): void => void child.terminal?.write(text);
  await seen("public=> ");
  type("select 40 +\r");
  await seen("-> ");
  type("2 as sum;\r");
  await seen("42");
  await seen("=> ");
  type("SELEC\t");
  await seen("SELECT");
  type(" 1,,2;\r");
  await seen("^");
  await seen("=> ");
  type("\\x\r");
  await seen("format is vertical");
  type(`select count(*) from ${SLOW};\r`);
  await Bun.sleep(300);
  type("\u0003");
  await seen("cancelled");
  type("create user a identified by 'secret';\r");
  await seen("error");
  type("\\q\r");
  expect(await child.exited).toBe(0);
  const history = await Bun.file(join(server.folder, "state/varve/history")).text();
  expect(history).toContain("select 40 + 2 as sum;");
  expect(history).not.toContain("secret");
}, 30_000);
