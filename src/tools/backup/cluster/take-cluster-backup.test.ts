/** Backups of a cluster in memory that goes on meanwhile. */
import { afterEach, describe, expect, test } from "bun:test";
import { BUSY, busy, endTrials, restored, row, SHARDS } from "../../../../test/support/cluster/backup-trial.ts";
import { memoryPort } from "../../../../test/support/cluster/memory-port.ts";
import { rowsOf } from "../../../../test/support/cluster/shard-rig.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { memoryTarget } from "../../../../test/support/memory-target.ts";
import { testIo } from "../../../../test/support/tool-io.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import { memoryFileStore } from "../../../storage/file-store/memory-file-store.ts";
import type { BackupTarget } from "../target.ts";
import { type ClusterSource, takeClusterBackup } from "./take-cluster-backup.ts";

afterEach(endTrials);

describe("while the cluster goes on", () => {
  test("files that go and logs that are let go are made up for by what took their place", async () => {
    const trial = await busy();
    const target = memoryTarget();
    let left = 3;
    let turn = Promise.resolve();
    const files = memoryFileStore(trial.rig.files);
    const merge = async (): Promise<void> => {
      if (left-- <= 0) return;
      await trial.letGo(10 + left);
      for (const { host } of trial.open) await host.engine.compactTable("public", "cpu"); // Takes the file away.
    };
    const merging: FileStore = {
      ...files,
      open: async (name) => {
        turn = turn.then(merge);
        await turn;
        return await files.open(name);
      },
    };
    const { manifest } = await trial.backUp(target, { files: merging });
    const data = manifest.files.filter(({ path }) => path.startsWith("data/"));
    expect(data.map(({ path }) => path.slice("data/".length))).toEqual([...trial.rig.files.keys()].toSorted());
    expect([...target.objects.keys()].filter((name) => name.includes("/data/"))).toHaveLength(data.length);
    const copy = await restored(target);
    expect(await copy.rows()).toEqual(
      [...BUSY, ...["0", "1"].flatMap((shard) => [10, 11, 12].map((time) => `${shard}: x ${time} ${time}`))].toSorted(),
    );
  });

  test("all that was acknowledged before is there, whatever comes meanwhile", async () => {
    const trial = await busy();
    const target = memoryTarget();
    let time = 100;
    const acknowledged = new Set<string>();
    const { ordered, log, messageBytesMax } = memoryPort(trial.rig.cluster, "backup");
    const writing: ClusterSource["port"] = {
      messageBytesMax,
      log,
      ordered: {
        append: () => Promise.reject(new Error("a backup appends nothing")),
        trim: () => Promise.reject(new Error("a backup trims nothing")),
        follow: (...args) => ordered.follow(...args),
        read: async (...args) => {
          time++;
          for (let shard = 0; shard < SHARDS; shard++) await trial.write(shard, row(time));
          if (time % 2 === 0) await trial.flush();
          return await ordered.read(...args);
        },
      },
    };
    const before = await trial.rows();
    for (const text of before) acknowledged.add(text);
    await trial.backUp(target, { port: writing });
    const found = await (await restored(target)).rows();
    expect(found).toEqual(expect.arrayContaining(before));
    expect(found.length).toBeGreaterThan(before.length);
    expect(await trial.rows()).toEqual(expect.arrayContaining(found));
  });

  test("tables come and go: the catalogue is that of the end, and has what the logs name", async () => {
    const trial = await busy();
    const { rig } = trial;
    const mem = await rig.table("mem");
    const writer = rig.writer(0, "other");
    await writer.write([mem, [row(1)]]);
    await trial.open[0]?.host.reach(writer.acknowledged);
    await trial.open[0]?.host.engine.flushTable("public", "mem");
    await writer.write([mem, [row(2)]]);
    const target = memoryTarget();
    const files = memoryFileStore(rig.files);
    let change = async (): Promise<void> => {
      change = () => Promise.resolve();
      await rig.frontend.dropTable("public", "mem", false);
      await rig.cluster.time.sleep(5000); // Its files go.
      const late = await rig.table("late");
      await rig.writer(0, "latest").write([late, [row(9)]]);
    };
    await trial.backUp(target, {
      files: {
        ...files,
        open: async (name) => {
          await change();
          return await files.open(name);
        },
      },
    });
    const copy = await restored(target);
    expect(await copy.rows()).toEqual([...BUSY]);
    const shard = copy.open[0]?.host;
    const late = await copy.rig.table("late");
    expect(shard === undefined ? [] : await rowsOf(shard.table(late.id))).toEqual(["x 9 9"]);
    expect(() => shard?.table(mem.id)).toThrow("does not exist");
    expect(shard?.engine.followed.applied).toBe((await trial.node.port.log.last(0)) + 1); // Its owner's mark.
  });

  test("a file that a shard names and that is not in the store ends the backup, by its name", async () => {
    const trial = await busy();
    const target = memoryTarget();
    const [name = ""] = trial.rig.files.keys();
    trial.rig.files.delete(name);
    expect((await errorOf(trial.backUp(target))).message).toBe(`cannot back up ${name}: shard 0 has it, and it is not in the store`);
    expect([...target.objects.keys()]).toEqual([]);
  });

  test("a log that is let go faster than it is copied ends the backup", async () => {
    const trial = await busy();
    const target = memoryTarget();
    let turn = Promise.resolve();
    const flushing: BackupTarget = {
      ...target,
      write: async (object, pieces) => {
        if (object.endsWith("/log")) await (turn = turn.then(() => trial.letGo(50)));
        await target.write(object, pieces).catch((cause: unknown) => {
          throw new Error(`cannot write ${object}`, { cause }); // As that in S3 says it.
        });
      },
    };
    const { message } = await errorOf(trial.backUp(flushing));
    expect(message).toMatch(/cannot back up shard \d: its log was let go before it was copied, 50 times/);
    expect([...target.objects.keys()]).toEqual([]);
  });

  test("an interrupted backup leaves earlier ones as they are, and nothing of its own", async () => {
    const trial = await busy();
    const target = memoryTarget();
    await trial.backUp(target);
    const before = [...target.objects.keys()];
    for (let piece = 1; ; piece++) {
      const io = testIo();
      let left = piece;
      const counting: BackupTarget = {
        ...target,
        write: (object, pieces) => {
          if (--left === 0) io.interrupt();
          return target.write(object, pieces);
        },
      };
      const ended = await takeClusterBackup(counting, trial.source(), io).then(
        () => "whole",
        (error: Error) => error.message,
      );
      if (ended === "whole") break;
      expect(ended).toContain("interrupted");
      expect([...target.objects.keys()]).toEqual(before);
    }
  });
});
