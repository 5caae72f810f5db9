/**
 * Varve as one file (`bin/build-executable.ts`), in a folder without its source tree: every thread starts, every door answers, the pages
 * are there. What the server does is tested elsewhere; here it is what a file may lack.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { threadScripts } from "../../bin/build-executable.ts";
import { IN_CLUSTER, standalone } from "../support/cluster/standalone.ts";
import { execute, queryRows, send, writeLines } from "../support/http-client.ts";
import { launchVarve, TestServer, temporaryFolder } from "../support/server-process.ts";
import { metricOf } from "./statement-watch.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** The build takes 3 s of processor time. */
const BUILD_MS_MAX = 60_000;
/** Most of it is work of other tests beside these. */
const WORK_MS_MAX = 20_000;
/** Bun's own 110 MB, and ours. */
const FILE_BYTES_MAX = 150_000_000;
/** `word,ts\nhello,1\n` */
const XZ = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAPd29yZCx0cwpoZWxsbywxCgA8BVgrRVX+OAABKBDlC2xgH7bzfQEAAAAABFla";
/** So many rows are read by query workers (`src/query/workers/limits.ts`). */
const BIG_ROWS = 600_000;

const folder = await temporaryFolder();
const program = join(folder, "varve");
const built = Bun.spawnSync([process.execPath, "run", "bin/build-executable.ts", "-o", program], { cwd: ROOT, timeout: BUILD_MS_MAX });
const said = built.stderr.toString();
/** Bun fetches a runtime for its builds when its own file is not a plain one. */
const isSkipped = !built.success && /download|extract/i.test(said);
if (isSkipped) process.stderr.write(`skipped: Bun cannot get the runtime of its executables: ${said}\n`);

/** Names of a process' threads. */
function threadsOf(pid: number): readonly string[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).map((id) => readFileSync(join(tasks, id, "comm"), "utf8").trim());
}

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("every script of a thread is known to the build", () => {
  expect(threadScripts()).toEqual([
    "ingest-worker.ts",
    "query-worker.ts",
    "query/workers/call-worker.ts",
    "storage/compaction/merge-worker.ts",
    "storage/sst/write/flush-worker.ts",
  ]);
});

describe.skipIf(isSkipped)("the executable", () => {
  let server: TestServer;
  beforeAll(async () => {
    expect(said).toBe("");
    server = await TestServer.start({
      program: [program],
      config: "[ingest]\nthreads = 2\n[query]\nworkers = 1\n[storage]\ncompaction = false\n",
    });
  }, BUILD_MS_MAX);
  afterAll(() => server.end());

  const run = (...args: readonly string[]): ReturnType<ReturnType<typeof launchVarve>["ended"]> =>
    launchVarve(args, {}, "", [], [program]).ended();

  test("is one file, and tells what it is", async () => {
    expect((await stat(program)).size).toBeLessThan(FILE_BYTES_MAX);
    expect(await readdir(folder)).toEqual(["varve"]);
    const { stdout, status } = await run("--version");
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^varve\nbranch: unknown\ncommit: (?:unknown|[0-9a-f]{40})\nversion: [\d.]+\n$/),
    ]);
    expect((await run("--help")).stdout).toContain("varve backup");
  });

  test("reads no .env and no bunfig.toml of the folder that it is started in", async () => {
    const place = join(folder, "place");
    await mkdir(place);
    await writeFile(join(place, ".env"), "VARVE__HTTP__ADDR=nonsense\n");
    await writeFile(join(place, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
    const ran = Bun.spawnSync([program, "-c", "missing.toml"], { cwd: place });
    expect([ran.exitCode, ran.stderr.toString()]).toEqual([1, expect.stringContaining("cannot read config file missing.toml")]);
  });

  test(
    "takes lines, flushes and merges them on threads, and answers",
    async () => {
      if (!IN_CLUSTER) expect(await server.running.logged("ready")).toMatchObject({ ingestThreads: 2, queryThreads: 1 });
      await writeLines(server.url, "cpu,host=a usage=1 1000000000\ncpu,host=b usage=2 2000000000");
      await execute(server.url, "ADMIN flush_table('cpu')");
      await writeLines(server.url, "cpu,host=a usage=3 3000000000");
      await execute(server.url, "ADMIN flush_table('cpu')");
      await execute(server.url, "ADMIN compact_table('cpu')");
      expect((await queryRows(server.url, "SELECT host, sum(usage) FROM cpu GROUP BY host ORDER BY host")).rows).toEqual([
        ["a", 4],
        ["b", 2],
      ]);
      const files = (await readdir(server.dataFiles, { recursive: true })).filter((name) => name.endsWith(".parquet"));
      expect(files.length).toBe(new Set(files.map(dirname)).size); // One in each shard.
      expect(files.length).toBeGreaterThan(0);
    },
    WORK_MS_MAX,
  );

  test(
    "has its query workers, and its thread of long calls",
    async () => {
      await execute(server.url, `CREATE TABLE big AS SELECT value::TIMESTAMP AS ts, value % 10 AS v FROM generate_series(1, ${BIG_ROWS})`);
      const { rows } = await queryRows(server.url, "SELECT v, count(*) FROM big WHERE v >= 5 GROUP BY v ORDER BY v");
      expect(rows).toEqual([5, 6, 7, 8, 9].map((v) => [v, BIG_ROWS / 10]));
      if (!IN_CLUSTER) expect(await metricOf(server, "varve_query_worker_tasks_total")).toBeGreaterThan(0); // Else of a data node.
      expect(await metricOf(server, "varve_query_worker_deaths_total")).toBe(IN_CLUSTER ? Number.NaN : 0);
      const long = "length(array_to_string(array_intersect(range(1, 60000), range(1, 60000)), ''))";
      expect((await queryRows(server.url, `SELECT ${long}`)).rows).toEqual([[288_889]]);
      if (process.platform === "linux") expect(threadsOf(server.running.pid)).toContain("calls");
    },
    WORK_MS_MAX,
  );

  test("has what comes as compiled code: cells of H3, .xz files, regular expressions", async () => {
    const h3 = "h3_latlng_to_cell_string(37.775938728915946, -122.41795063018799, 9)";
    expect((await queryRows(server.url, `SELECT ${h3}, regexp_replace('aab', 'a+', 'c')`)).rows).toEqual([["8928308280fffff", "cb"]]);
    const copies = join(server.dataHome, "copy");
    await mkdir(copies, { recursive: true });
    await writeFile(join(copies, "words.csv.xz"), Buffer.from(XZ, "base64"));
    await execute(server.url, "CREATE TABLE words (word STRING, ts TIMESTAMP TIME INDEX)");
    await execute(server.url, "COPY words FROM 'words.csv.xz' WITH (FORMAT = 'csv')");
    expect((await queryRows(server.url, "SELECT word FROM words")).rows).toEqual([["hello"]]);
  });

  test("serves the dashboard and all it names", async () => {
    const page = await send(`${server.url}/dashboard`);
    expect(page.status).toBe(200);
    const names = [...page.text.matchAll(/\/dashboard\/assets\/[\w.-]+/g)].map(([name]) => name);
    expect(names.length).toBeGreaterThanOrEqual(4);
    for (const name of names) {
      for (const encoding of ["identity", "gzip", "br"]) {
        const asset = await send(server.url + name, { headers: { "accept-encoding": encoding } });
        expect([name, asset.status, asset.headers.get("content-encoding")]).toEqual([name, 200, encoding === "identity" ? null : encoding]);
        expect(asset.text.length).toBeGreaterThan(100);
      }
    }
  });

  test("knows the messages of gRPC, OTLP and Prometheus", async () => {
    const health = await send(`http://${server.grpcAddress}/grpc.health.v1.Health/Check`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect([health.status, health.text]).toEqual([200, '{"status":"SERVING"}']);
    const points = { dataPoints: [{ timeUnixNano: "1000000000", asDouble: 7 }] };
    const body = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "heat", gauge: points }] }] }] });
    const headers = { "content-type": "application/json" };
    expect((await send(`${server.url}/v1/otlp/v1/metrics`, { method: "POST", headers, body })).status).toBe(200);
    const asked = await send(`${server.url}/v1/prometheus/api/v1/query?query=heat&time=1`);
    expect(JSON.parse(asked.text)).toMatchObject({ status: "success", data: { result: [{ value: [1, "7"] }] } });
  });

  standalone("its folder is checked").test("ends cleanly, with nothing but news in its log, and finds its directory sound", async () => {
    const { status, stderr } = await server.stop();
    expect(status).toBe(0);
    expect(stderr.split("\n").filter((line) => line !== "" && !line.startsWith('{"level":"info"'))).toEqual([]);
    const checked = await run("check", "--data-home", server.dataHome);
    expect([checked.status, checked.stdout]).toEqual([0, expect.stringMatching(/\nsound: /)]);
  });
});
