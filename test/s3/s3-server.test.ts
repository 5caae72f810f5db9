/** A server whose data files lie in an S3 store: nothing acknowledged is lost, whatever happens to it, its cache or the store. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { errorOf } from "../support/failure-of.ts";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { launchVarve, runVarve, TestServer } from "../support/server-process.ts";
import { configOf } from "./server-config.ts";
import { BUCKET, KEYS, startStore, type TestStore } from "./store-process.ts";

const { describe, test } = standalone("its cache and its uploads; a cluster over a store is in `bun run test:cluster --store`");

const TIMEOUT_MILLIS = 60_000;
const ROWS = 20_000;
const HOSTS = 10;

let store: TestStore;
let server: TestServer | undefined;
let written = 0;
let roots = 0;

beforeAll(async () => {
  store = await startStore();
});
afterAll(() => store.close());
beforeEach(() => {
  written = 0;
});
afterEach(async () => {
  if (store.fake !== undefined) store.fake.fault = undefined;
  await server?.end();
  server = undefined;
});

/** A configuration file. */
const config = (root: string, changes: Readonly<Record<string, string>> = {}): string => configOf(store, root, changes);

const freshRoot = (): string => `tests/root-${++roots}`;

async function start(root: string, changes: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  server = await TestServer.start({ config: config(root, changes) });
  return server;
}

async function write(to: TestServer): Promise<void> {
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const at = written + i;
    return `life,host=h${at % HOSTS} v=${at}i,f=${at / 4} ${1_700_000_000 + Math.floor(at / HOSTS)}`;
  });
  await writeLines(to.url, lines.join("\n"), { query: { precision: "s" } });
  written += ROWS;
}

async function flush(of: TestServer): Promise<void> {
  await execute(of.url, "ADMIN flush_table('life')");
}

async function checkRows(of: TestServer): Promise<void> {
  const { rows } = await queryRows(of.url, "SELECT count(*), sum(v), max(f) FROM life");
  expect(rows).toEqual([[written, (written * (written - 1)) / 2, (written - 1) / 4]]);
  const groups = await queryRows(of.url, "SELECT host, count(v) FROM life GROUP BY host ORDER BY host");
  expect(groups.rows).toEqual(Array.from({ length: HOSTS }, (_, i) => [`h${i}`, written / HOSTS]));
}

const folderOf = (of: TestServer): string => join(of.dataHome, "data");
const copiesOf = (of: TestServer): string[] =>
  existsSync(folderOf(of))
    ? readdirSync(folderOf(of), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".parquet"))
    : [];
const objects = (): string[] => [...(store.fake?.objects.keys() ?? [])].filter((name) => name.endsWith(".parquet"));

/** A value of `/metrics`. */
async function metric(of: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${of.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}

describe("rows in a store", () => {
  test(
    "are all there after flushes, a merge, a clean restart, a death, and with a cache that was emptied",
    async () => {
      const varve = await start(freshRoot());
      for (let i = 0; i < 3; i++) {
        await write(varve);
        await flush(varve);
      }
      await checkRows(varve);
      const { rows } = await queryRows(varve.url, "SELECT count(DISTINCT table_dir) FROM information_schema.ssts_manifest");
      expect(await metric(varve, "varve_file_uploads_total")).toBe(3 * Number(rows[0]?.[0])); // Of one shard: 3.
      expect(await metric(varve, "varve_file_fetches_total")).toBe(0);
      await execute(varve.url, "ADMIN compact_table('life')");
      await checkRows(varve);
      await write(varve);
      await varve.stop();
      await rm(folderOf(varve), { recursive: true });
      await rm(join(varve.dataHome, "wal"), { recursive: true });
      await varve.restart();
      expect(copiesOf(varve)).toEqual([]);
      await checkRows(varve);
      expect(copiesOf(varve).length).toBeGreaterThan(0);
      await rm(folderOf(varve), { recursive: true }); // While it runs.
      await checkRows(varve);
      await write(varve);
      await varve.kill();
      await varve.restart();
      await checkRows(varve);
      expect(varve.log()).not.toContain(KEYS.secret);
      expect(await (await fetch(`${varve.url}/config`)).text()).toContain('secret_access_key = "***"');
    },
    TIMEOUT_MILLIS,
  );

  test(
    "that are being uploaded when the server dies are there, and nothing else stays",
    async () => {
      const varve = await start(freshRoot());
      const deaths = [0, 30, 100];
      for (const millis of deaths) {
        await write(varve);
        const flushing = Promise.allSettled([flush(varve)]); // It fails where the server dies before it ends.
        if (store.fake !== undefined) store.fake.fault = ({ method }) => (method === "PUT" ? { kind: "slow", millis: 60 } : undefined);
        await Bun.sleep(millis);
        await varve.kill();
        await flushing;
        if (store.fake !== undefined) store.fake.fault = undefined;
        await varve.restart();
        await checkRows(varve);
      }
      await flush(varve);
      await checkRows(varve);
      if (store.fake !== undefined) {
        const own = objects().filter((name) => name.includes(`root-${roots}/`));
        const { rows } = await queryRows(varve.url, "SELECT count(*) FROM information_schema.ssts_storage");
        expect([own.length, store.fake.uploads.size]).toEqual([Number(rows[0]?.[0]), 0]);
      }
    },
    TIMEOUT_MILLIS,
  );

  test(
    "are read by ranges where the cache has no room for their file",
    async () => {
      const varve = await start(freshRoot(), { cache_capacity: "1MiB" });
      for (let i = 0; i < 6; i++) await write(varve);
      await flush(varve);
      await varve.stop();
      await rm(folderOf(varve), { recursive: true });
      await varve.restart();
      await checkRows(varve);
      expect(await metric(varve, "varve_file_cache_bytes")).toBeLessThanOrEqual(1024 * 1024);
    },
    TIMEOUT_MILLIS,
  );
});

test(
  "a backup has the files of the store, restores without it, and a check reads them",
  async () => {
    const varve = await start(freshRoot());
    await write(varve);
    await flush(varve);
    await write(varve);
    await rm(folderOf(varve), { recursive: true });
    const configFile = ["--config-file", join(varve.folder, "varve.toml")];
    const target = join(varve.folder, "backups");
    const without = await runVarve(["backup", target, "--url", varve.url]);
    expect([without.status, without.stderr]).toEqual([1, expect.stringContaining("name its configuration with --config-file")]);
    const backup = await runVarve(["backup", target, "--url", varve.url, ...configFile]);
    expect([backup.status, backup.stderr]).toEqual([0, ""]);
    await varve.stop();
    const unchecked = await runVarve(["check", "--data-home", varve.dataHome]);
    expect(unchecked.stderr).toContain("its data files lie in an S3 store; name the server's configuration");
    const check = await runVarve(["check", "--data-home", varve.dataHome, ...configFile]);
    expect([check.status, check.stderr]).toEqual([0, ""]);
    const restored = join(varve.folder, "restored");
    expect((await runVarve(["restore", target, "--data-home", join(restored, "data")])).status).toBe(0);
    await using other = await TestServer.start({}, restored);
    await checkRows(other);
    await other.stop();
    await other.restart({ config: config(freshRoot()) }); // The disk of the first is lost: its files go to a root of their own.
    await other.running.logged("uploaded data files that were only here");
    await checkRows(other);
    if (store.fake !== undefined) {
      const name = [...store.fake.objects.keys()].find((key) => key.includes(`root-${roots - 1}/tables/`)) ?? "";
      store.fake.objects.delete(name);
      const damaged = await runVarve(["check", "--data-home", varve.dataHome, ...configFile]);
      expect([damaged.status, damaged.stdout]).toEqual([1, expect.stringContaining("cannot be opened")]);
    }
  },
  TIMEOUT_MILLIS,
);

describe("a data directory", () => {
  test(
    "that had its files here uploads them, and does not go back in silence",
    async () => {
      const root = freshRoot();
      server = await TestServer.start({ config: "" });
      const varve = server;
      await write(varve);
      await flush(varve);
      await varve.stop();
      await varve.restart({ config: config(root) });
      await varve.running.logged("uploaded data files that were only here");
      await checkRows(varve);
      await varve.stop();
      await rm(folderOf(varve), { recursive: true });
      await varve.restart();
      await checkRows(varve);
      await varve.stop();
      const { status, stderr } = await launchVarve(["--http-addr", "127.0.0.1:0", "--data-home", varve.dataHome]).ended();
      expect([status, stderr]).toEqual([1, expect.stringContaining("its data files lie in an S3 store: set storage.type")]);
    },
    TIMEOUT_MILLIS,
  );

  test(
    "does not start on the root of another, with wrong keys, without its bucket, nor without the store",
    async () => {
      const root = freshRoot();
      await start(root);
      const refused = async (changes: Readonly<Record<string, string>>, want: string | RegExp): Promise<void> => {
        const env = Object.fromEntries(
          Object.entries({
            type: "S3",
            bucket: BUCKET,
            root,
            endpoint: store.endpoint,
            access_key_id: KEYS.id,
            secret_access_key: KEYS.secret,
            ...changes,
          }).map(([key, value]) => [`VARVE__STORAGE__${key.toUpperCase()}`, value]),
        );
        const home = join(server?.folder ?? "", "other");
        const { status, stderr } = await launchVarve(["--http-addr", "127.0.0.1:0", "--data-home", home], env).ended();
        expect(stderr).toMatch(want);
        expect([status, stderr.includes(KEYS.secret)]).toEqual([1, false]);
      };
      await refused({}, /see that no other server uses this storage\.root/);
      await refused({ access_key_id: "other" }, / 4\d\d .*(?:check storage\.access_key_id|let these keys)/);
      await refused({ endpoint: "http://127.0.0.1:9" }, /no answer .*check storage\.endpoint/);
      if (store.fake === undefined) await refused({ bucket: "no-such-bucket" }, /404 NoSuchBucket: check storage\.bucket/);
    },
    TIMEOUT_MILLIS,
  );
});

describe("a store that does not work", () => {
  test(
    "stops neither writes nor queries of what is here, and gets all rows later",
    async () => {
      const { fake } = store;
      if (fake === undefined) return; // A real one has no such switch.
      const varve = await start(freshRoot());
      await write(varve);
      await flush(varve);
      fake.fault = () => ({ kind: "refuse", status: 403, code: "AccessDenied" });
      await write(varve);
      expect((await errorOf(flush(varve))).message).toContain("cannot upload file");
      await checkRows(varve);
      expect(await (await fetch(`${varve.url}/metrics`)).text()).not.toContain(KEYS.secret);
      fake.fault = undefined;
      await flush(varve);
      await checkRows(varve);
      await varve.stop();
      await rm(folderOf(varve), { recursive: true });
      await varve.restart();
      await checkRows(varve);
    },
    TIMEOUT_MILLIS,
  );
});
