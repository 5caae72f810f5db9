import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { importWithKills, sumOf } from "../../../test/import/resume.ts";
import { TestServer } from "../../../test/support/server-process.ts";
import { type ToolEnding, toolRun } from "../../../test/support/tool-run.ts";
import { sql } from "../sql/sql.ts";
import { importTool } from "./import.ts";

let server: TestServer;
let folder = "";
beforeAll(async () => {
  server = await TestServer.start();
  folder = join(server.folder, "files");
  await mkdir(folder);
}, 60_000);
afterAll(async () => {
  await server.end();
});

const run = (args: readonly string[], signal?: AbortSignal): Promise<ToolEnding> =>
  toolRun(importTool, ["--url", server.processUrl, ...args], {
    env: { XDG_STATE_HOME: folder },
    ...(signal === undefined ? {} : { signal }),
  });
const ask = async (statement: string, database = "public"): Promise<string> =>
  (await toolRun(sql, ["--url", server.url, "--db", database, statement])).out;
async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await Bun.write(path, content);
  return path;
}
const WELL = { status: 0, out: "", err: "" };

test("200,000 rows, killed and stopped on the way, are there once each", async () => {
  const found = await importWithKills(server, 200_000, 350, false);
  expect([found.rows, found.sum]).toEqual([200_000, sumOf(200_000)]);
  expect(found.kills + found.stops).toBeGreaterThan(0);
  await ask("DROP TABLE cpu");
}, 120_000);

test("so are those of a table that keeps every row, of which some are asked about", async () => {
  const found = await importWithKills(server, 60_000, 350, true);
  expect([found.rows, found.sum]).toEqual([60_000, sumOf(60_000)]);
}, 120_000);

test("lines without a time get one that stays the same; blank lines and remarks are no rows; packed files are read", async () => {
  const text = '# remark\n\nm,h=a v=1\nm,h=b v=2,s="x\ny" 5\r\n  \nm,h=c v=3';
  expect(await run([await file("a.lp.gz", Bun.gzipSync(text))])).toEqual(WELL);
  expect(await ask("select h, v, s, extract(epoch from greptime_timestamp) > 1000 now from m order by h")).toBe(
    'h,v,s,now\na,1.0,,true\nb,2.0,"x\ny",false\nc,3.0,,true\n',
  );
  expect(await run(["--precision", "s", await file("b.lp", "sec,h=a v=1 1700000000\n")])).toEqual(WELL);
  expect(await ask("select greptime_timestamp t from sec")).toBe("t\n2023-11-14T22:13:20\n");
});

test("an export of InfluxDB goes into its databases", async () => {
  const text = [
    "# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z",
    "# DDL",
    "CREATE DATABASE telegraf WITH NAME autogen",
    'CREATE DATABASE "other db" WITH NAME autogen',
    "# DML",
    "# CONTEXT-DATABASE:telegraf",
    "# CONTEXT-RETENTION-POLICY:autogen",
    "# writing tsm data",
    "cpu2,host=a usage=1 1700000000000000000",
    "cpu2,host=b usage=2 1700000000000000000",
    "# CONTEXT-DATABASE:other db",
    "mem,host=a used=3i 1700000000000000000",
    "",
  ].join("\n");
  expect(await run([await file("export.txt", text)])).toEqual(WELL);
  expect(await ask("select host, usage from cpu2 order by 1", "telegraf")).toBe("host,usage\na,1.0\nb,2.0\n");
  expect(await ask("select used from mem", "other db")).toBe("used\n3\n");
});

test("bad lines end an import with their place, or are told and left out", async () => {
  const path = await file("bad.lp", `${"ok,h=a v=1 1\n".repeat(10)}ok,h=a v=x 2\nok,h=a v=2 3\n`);
  const failed = await run(["--batch-rows", "5", path]);
  expect(failed.status).toBe(1);
  expect(failed.err).toContain("at line 11:");
  const skipped = await run(["--batch-rows", "5", "--skip-bad-rows", path]);
  expect([skipped.status, skipped.err]).toEqual([0, expect.stringContaining("ok,h=a v=x 2")]);
  expect(await ask("select count(*) c from ok")).toBe("c\n2\n");
});

test("tables are made of files where they are missing, and only as told", async () => {
  const path = await file("made.csv", 'ts,host,v,"q""s"\n2024-01-01T00:00:00Z,a,1.5,"x\n,""y"\n2024-01-01T00:00:01Z,b,,\n');
  const refused = await run([path]);
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining("--tags")]);
  expect(await run([path, "--tags", "host"])).toEqual(WELL);
  expect(await ask('select host, v, "q""s" from made order by ts')).toBe('host,v,"q""s"\na,1.5,"x\n,""y"\nb,,\n');
  expect(
    (await run([await file("json.ndjson", '{"at":1700000000,"h":"a","o":{"x":[1]}}\n'), "--time", "at", "--precision", "s", "--append"]))
      .status,
  ).toBe(0);
  expect(await ask("select at, h, o from json")).toBe('at,h,o\n2023-11-14T22:13:20,a,"{""x"":[1]}"\n');
});

test("files that do not fit a table are refused with what is wrong", async () => {
  await ask("create table fits (ts timestamp time index, v int)");
  const check = async (text: string, want: string): Promise<void> => {
    const { status, err } = await run(["--table", "fits", await file(`fits${Bun.hash(text)}.csv`, text)]);
    expect([status, err]).toEqual([1, expect.stringContaining(want)]);
  };
  await check("ts,v,strange\n1,1,1\n", "has no column strange");
  await check("v\n1\n", "it has no column ts");
  await check("ts,v\n1,1\n2,x\n", "line 3, column v");
  expect((await run([join(folder, "none.csv")])).status).toBe(2);
  expect((await run([await file("what.bin", "abc")])).err).toContain("--format");
});

test("what changed since is not gone on with", async () => {
  const stopped = new AbortController();
  const path = await file("changed.lp", "c,h=a v=1 1\n".repeat(30_000));
  stopped.abort();
  const interrupted = await run(["--batch-rows", "1000", path], stopped.signal);
  expect(interrupted.status).toBe(130);
  const bad = await file("later.lp", "c,h=a v=1 1\nc,h=a v= 2\n");
  expect((await run(["--batch-rows", "1", bad])).status).toBe(1);
  expect((await run(["--batch-rows", "2", bad])).err).toContain("had other flags");
  await Bun.write(bad, "c,h=a v=1 1\nc,h=a v=2 2\n");
  expect((await run(["--batch-rows", "1", bad])).err).toContain("is not what it was");
  expect(await run(["--batch-rows", "1", "--restart", bad])).toEqual(WELL);
  await rm(bad);
});
