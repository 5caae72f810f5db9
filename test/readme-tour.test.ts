/** The README's tour works as printed: its commands run against a real server, and what it shows is what comes back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../bench/macro/free-port.ts";
import { blocksOf, settled, stopsOf } from "./support/document-blocks.ts";
import { BESIDE_OTHERS } from "./support/server-process.ts";
import { ROOT } from "./tidy/source-tree.ts";

const README_ADDRESS = "127.0.0.1:4000";
const START_MS_MAX = 15_000;
const STOP_MS_MAX = 10_000;

const readme = await Bun.file(join(ROOT, "README.md")).text();
const blocks = blocksOf(readme);

test("names only commands that exist", async () => {
  const manifest = (await Bun.file(join(ROOT, "package.json")).json()) as { readonly scripts: Readonly<Record<string, string>> };
  const named = [...readme.matchAll(/\bbun run ([a-z:]+)(?![\w./])/g)].map(([, name = ""]) => name);
  expect(named).toContain("check");
  for (const name of ["start", "test", "bench", ...named.filter((name) => name !== "src")])
    expect(Object.keys(manifest.scripts)).toContain(name);
  for (const [path = ""] of readme.matchAll(/\b(?:src|test|bin)\/[\w/-]+\.ts\b/g)) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

describe.skipIf(Bun.which("curl") === null)("the tour", () => {
  const stops = stopsOf(blocks);
  let folder = "";
  let address = "";
  let server: Bun.Subprocess | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "varve-tour-"));
    address = `127.0.0.1:${freePort()}`;
    server = Bun.spawn([process.execPath, "run", "src/main.ts", "--http-addr", address, "--data-home", join(folder, "data")], {
      cwd: ROOT,
      env: { ...process.env, ...BESIDE_OTHERS },
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(folder, "log")), // a pipe that nobody reads would stop the server once it is full
    });
    const deadline = performance.now() + START_MS_MAX;
    while (!(await isReady())) {
      if (server.exitCode !== null)
        throw new Error(`the server ended with ${server.exitCode}:\n${await Bun.file(join(folder, "log")).text()}`);
      if (performance.now() > deadline) throw new Error(`the server was not ready after ${START_MS_MAX} ms`);
      await Bun.sleep(50);
    }
  }, START_MS_MAX + 5_000);

  afterAll(async () => {
    if (server !== undefined && server.exitCode === null) {
      server.kill("SIGTERM");
      const kill = setTimeout(() => server?.kill("SIGKILL"), STOP_MS_MAX);
      await server.exited;
      clearTimeout(kill);
    }
    await rm(folder, { recursive: true, force: true });
  }, STOP_MS_MAX + 5_000);

  async function isReady(): Promise<boolean> {
    try {
      return (await fetch(`http://${address}/health`)).ok;
    } catch (error) {
      if (error instanceof Error && /refused|unable to connect/i.test(error.message)) return false; // not listening yet
      throw error;
    }
  }

  /** Runs a command of the README against this server. */
  function shell(command: string): string {
    const run = Bun.spawnSync(["sh", "-c", command.replaceAll(README_ADDRESS, address)], { stdout: "pipe", stderr: "pipe" });
    expect(run.stderr.toString()).toBe("");
    expect(run.exitCode).toBe(0);
    return run.stdout.toString();
  }

  test("has stops that write, ask, and show what comes back", () => {
    expect(stops.length).toBeGreaterThanOrEqual(4);
    expect(stops.filter(({ shown }) => shown !== undefined).length).toBeGreaterThanOrEqual(3);
  });

  test("writes and asks as printed", () => {
    for (const { command, shown } of stops) {
      if (shown !== undefined) expect(settled(shell(command)), command).toBe(settled(shown));
    }
  });

  test("takes what Telegraf sends under the printed configuration", async () => {
    const printed = Bun.TOML.parse(blocks.find(({ kind }) => kind === "toml")?.text ?? "") as {
      readonly outputs: { readonly influxdb: readonly [{ readonly urls: readonly [string]; readonly database: string }] };
    };
    const output = printed.outputs.influxdb[0];
    const base = output.urls[0].replace(README_ADDRESS, address);
    const asked = await fetch(`${base}/query`, {
      method: "POST",
      body: new URLSearchParams({ q: `CREATE DATABASE "${output.database}"` }),
    });
    expect(asked.status, await asked.text()).toBe(200);
    const written = await fetch(`${base}/write?db=${output.database}`, {
      method: "POST",
      headers: { "Content-Type": "text/plain; charset=utf-8", "Content-Encoding": "gzip" },
      body: Bun.gzipSync("mem,host=web-1 used_percent=12.5 1700000000000000000\n"),
    });
    expect(written.status, await written.text()).toBe(204);
    const last = stops.at(-1)?.command ?? "";
    expect(last).toContain(`db=${output.database}`);
    expect(settled(shell(last)).split("\n")).toContain("mem");
  });

  test("ends cleanly on SIGTERM", async () => {
    server?.kill("SIGTERM");
    expect(await server?.exited).toBe(0);
  });
});
