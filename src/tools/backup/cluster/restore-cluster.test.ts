/** Clusters in memory that are made of backups. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  BUSY,
  busy,
  endedLater,
  endTrials,
  newPlace,
  restore,
  restored,
  row,
  SHARDS,
  Trial,
} from "../../../../test/support/cluster/backup-trial.ts";
import { memoryNewCluster } from "../../../../test/support/cluster/memory-new-cluster.ts";
import { memoryPort } from "../../../../test/support/cluster/memory-port.ts";
import { ShardRig } from "../../../../test/support/cluster/shard-rig.ts";
import { memoryTarget } from "../../../../test/support/memory-target.ts";
import { testIo } from "../../../../test/support/tool-io.ts";
import type { NewCluster } from "../../../cluster/port/new-cluster.ts";
import { memoryFileStore } from "../../../storage/file-store/memory-file-store.ts";
import { takeClusterBackup } from "./take-cluster-backup.ts";

afterEach(endTrials);

describe("a cluster of a backup", () => {
  test("has the rows of files and of the log; what is written then is newer, and deletes count", async () => {
    const trial = await busy();
    const target = memoryTarget();
    const { manifest } = await trial.backUp(target);
    expect(manifest.files.map(({ path }) => path.replace(/\d{10}\/\d{10}/, "…"))).toEqual([
      "catalog.json",
      "data/shard-0000/tables/….parquet",
      "data/shard-0000/tables/….parquet",
      "data/shard-0001/tables/….parquet",
      "data/shard-0001/tables/….parquet",
      "shard-0000/log",
      "shard-0000/shard.json",
      "shard-0001/log",
      "shard-0001/shard.json",
    ]);
    await trial.write(0, row(1, 999));
    const copy = await restored(target);
    expect(await copy.rows()).toEqual([...BUSY]);
    await copy.write(0, row(1, 100), row(4, 400));
    await copy.write(1, row(5, 500, "z"));
    const want = BUSY.map((text) => text.replace("0: x 1 1", "0: x 1 100").replace("x 4 4", "x 4 400").replace("z 5 5", "z 5 500"));
    expect(await copy.rows()).toEqual(want);
    await copy.flush();
    for (const { host } of copy.open) await host.engine.compactTable("public", "cpu");
    expect(await copy.rows()).toEqual(want);
    const names = [...copy.rig.files.keys()].map((name) => Number(name.slice(-18, -8)));
    expect(Math.max(...names)).toBeGreaterThan(1_000_000); // Names that the first cluster does not give out.
    await copy.rig.frontend.dropTable("public", "cpu", false);
    expect(Number((await copy.rig.table("mem")).id)).toBe(copy.cpu.id + 1);
  });

  test("may be of a backup in version 2 of the target, as it was first written", async () => {
    const target = memoryTarget();
    const fixture = (await Bun.file(join(import.meta.dir, "fixtures/v2.json")).json()) as Readonly<Record<string, string>>;
    for (const [name, base64] of Object.entries(fixture)) target.objects.set(name, Uint8Array.fromBase64(base64));
    expect(await (await restored(target)).rows()).toEqual([...BUSY]);
  });

  test("is taken over by other nodes, and can be backed up into the same target", async () => {
    const trial = await busy();
    const target = memoryTarget();
    const first = await trial.backUp(target);
    const copy = await restored(target);
    for (const { host } of copy.open) expect(host.epoch).toBe(2);
    const second = await copy.backUp(target);
    expect(second.manifest.files).toHaveLength(first.manifest.files.length);
    expect(second.copiedFiles).toBe(5); // The data files are known.
    await copy.node.kill();
    const next = await restored(target, second.manifest.id);
    expect(await next.rows()).toEqual([...BUSY]);
  });

  test("tells rows that a writer sends again from new ones", async () => {
    const trial = await Trial.start();
    const target = memoryTarget();
    const { records } = trial.rig.writer(0);
    const writer = trial.rig.writer(0);
    const message = writer.messagesOf(records.record(1, [[trial.cpu, [row(1)]]]));
    await writer.append(message);
    await trial.backUp(target);
    const copy = await restored(target);
    await copy.writers[0]?.append(message);
    await copy.rows();
    expect(copy.open[0]?.host.engine.followed.skipped).toMatchObject({ repeated: 1 });
  });

  test("may have had no owner yet, and no rows", async () => {
    const rig = endedLater(await ShardRig.start({ shards: SHARDS }));
    const cpu = await rig.table("cpu");
    await rig.writer(1).write([cpu, [row(7)]]);
    const target = memoryTarget();
    const { cluster, files } = rig;
    const port = memoryPort(cluster, "backup");
    const sleep = (): Promise<void> => Promise.resolve();
    const source = { port, shards: SHARDS, files: memoryFileStore(files), folder: undefined, clock: cluster.time, sleep };
    await takeClusterBackup(target, source, testIo());
    const copy = await restored(target);
    expect(await copy.rows()).toEqual(["1: x 7 7"]);
  });

  test("is made by the second try, where the first one ended anywhere", async () => {
    const trial = await busy();
    const target = memoryTarget();
    await trial.backUp(target);
    for (let steps = 0; ; steps++) {
      const made = newPlace();
      let left = steps;
      const cut = <T>(call: () => Promise<T>): Promise<T> => (left-- > 0 ? call() : Promise.reject(new Error("cut")));
      const whole = memoryNewCluster(made.cluster, "first");
      const cluster: NewCluster = {
        ...whole,
        make: (first) => cut(() => whole.make(first)),
        putRecord: (shard, number, record) => cut(() => whole.putRecord(shard, number, record)),
        ordered: {
          append: (...args) => cut(() => whole.ordered.append(...args)),
          read: (...args) => whole.ordered.read(...args),
          follow: (...args) => whole.ordered.follow(...args),
          trim: (...args) => whole.ordered.trim(...args),
        },
      };
      const ended = await restore(target, made, { cluster }).then(
        () => "whole",
        (error: Error) => error.message,
      );
      if (ended === "whole") {
        expect(steps).toBeGreaterThan(5);
        return;
      }
      expect(ended).toBe("cut");
      const isLast = made.files.size > 0; // All but the catalogue is there: a cluster may be, too.
      if (isLast) made.files.clear();
      const copy = await Trial.start(await restore(target, made));
      expect(await copy.rows()).toEqual([...BUSY]);
    }
  });
});
