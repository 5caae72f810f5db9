/** The program as `bun install` builds it: one server of it writes, flushes in its thread, answers, and names sources in stacks. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildServer } from "../../bin/build-server.ts";
import { type BuildSources, SOURCES_FILE } from "../../src/built-program.ts";
import { TestServer } from "../support/server-process.ts";

const ROOT = resolve(import.meta.dir, "../..");
let folder = "";
let main = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "varve-build-"));
  await buildServer(ROOT, join(folder, "server"));
  main = join(folder, "main.ts");
  writeFileSync(main, 'const program = await import("./server/program.js");\nawait program.run();\n');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

test("a build tells all files it was made of", () => {
  const { files, root, bun } = JSON.parse(readFileSync(join(folder, "server", SOURCES_FILE), "utf8")) as BuildSources;
  const paths = files.map(([path]) => path);
  expect({ root, bun }).toEqual({ root: ROOT, bun: Bun.version });
  for (const path of ["package.json", "bun.lock", "src/program.ts", "src/query-worker.ts", "src/storage/sst/write/flush.ts"])
    expect(paths).toContain(path);
  expect(paths.filter((path) => path.includes("node_modules") || path.startsWith("..") || path.startsWith("/"))).toEqual([]);
  expect(paths).toContain("proto/gen/greptime/v1/row_pb.js");
});

test("a built server writes, flushes, answers and serves its pages, its threads from the build too", async () => {
  await using server = await TestServer.start({ program: [process.execPath, "run", main], env: { VARVE__INGEST__THREADS: "2" } });
  const sql = async (text: string): Promise<string> => {
    const response = await fetch(`${server.url}/v1/sql`, { method: "POST", body: new URLSearchParams({ sql: text }) });
    return await response.text();
  };
  await sql("CREATE TABLE t (host STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, PRIMARY KEY (host))");
  const lines = Array.from({ length: 2000 }, (_, i) => `t,host=h${i % 10} v=${i}.5 ${1_700_000_000_000 + i}`).join("\n");
  const written = await fetch(`${server.url}/v1/influxdb/write?db=public&precision=ms`, { method: "POST", body: lines });
  expect(written.status).toBe(204);
  await sql("ADMIN flush_table('t')");
  expect(await sql("SELECT host, max(v) FROM t GROUP BY host ORDER BY host LIMIT 1")).toContain('["h0",1990.5]');
  expect(await sql("SELECT repeat('x', 3), regexp_replace('abc', 'b', 'd')")).toContain("adc");
  const page = await fetch(`${server.url}/dashboard`);
  expect(page.status).toBe(200);
});
