/** Backups of a cluster in memory, and the clusters that are made of them. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { memoryNewCluster } from "../../../../test/support/cluster/memory-new-cluster.ts";
import { MemoryCluster } from "../../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../../test/support/cluster/memory-port.ts";
import type { WrittenRow } from "../../../../test/support/cluster/record-maker.ts";
import { type OpenRigShard, type RigNode, rowsOf, ShardRig } from "../../../../test/support/cluster/shard-rig.ts";
import type { ShardWriter } from "../../../../test/support/cluster/shard-writer.ts";
import { memoryTarget, type MemoryTarget } from "../../../../test/support/memory-target.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { testIo } from "../../../../test/support/tool-io.ts";
import type { NewCluster } from "../../../cluster/port/new-cluster.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import { memoryFileStore } from "../../../storage/file-store/memory-file-store.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { findBackups, type ClusterManifest } from "../manifest.ts";
import type { TakenBackup } from "../new-backup.ts";
import { pickBackup } from "../restore-backup.ts";
import type { BackupTarget } from "../target.ts";
import { restoreCluster } from "./restore-cluster.ts";
import { type ClusterSource, takeClusterBackup } from "./take-cluster-backup.ts";

const SHARDS = 2;

const rigs: ShardRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

/** A cluster with a table, one data node, and a writer a shard. */
class Trial {
  readonly rig: ShardRig;
  readonly cpu: TableSchema;
  readonly node: RigNode;
  readonly open: readonly OpenRigShard[];
  readonly writers: readonly ShardWriter[];

  private constructor(rig: ShardRig, cpu: TableSchema, node: RigNode, open: readonly OpenRigShard[]) {
    this.rig = rig;
    this.cpu = cpu;
    this.node = node;
    this.open = open;
    this.writers = open.map((_, shard) => rig.writer(shard));
  }

  /** @param options servers and files of a cluster that was restored; without them a new one */
  static async start(options: Parameters<typeof ShardRig.start>[0] = {}): Promise<Trial> {
    const rig = await ShardRig.start({ shards: SHARDS, ...options });
    rigs.push(rig);
    const cpu = await rig.table("cpu"); // Unless there is one.
    const node = await rig.node("a", { follow: { snapshotMessages: 1, trimMillis: 0 } });
    const open: OpenRigShard[] = [];
    for (let shard = 0; shard < SHARDS; shard++) open.push(await node.open(shard));
    return new Trial(rig, cpu, node, open);
  }

  async write(shard: number, ...rows: readonly WrittenRow[]): Promise<void> {
    await this.writers[shard]?.write([this.cpu, rows]);
  }

  async flush(): Promise<void> {
    for (const [shard, { host }] of this.open.entries()) {
      await host.reach(this.writers[shard]?.acknowledged ?? 0);
      await host.engine.flushTable("public", "cpu");
    }
  }

  /** Has the logs let go of all but the row that it writes: segments of writers are closed two minutes after they were seen. */
  async letGo(time: number): Promise<void> {
    await this.rig.cluster.time.sleep(130_000);
    for (let shard = 0; shard < SHARDS; shard++) await this.write(shard, row(time));
    await this.flush();
    await this.rig.cluster.time.sleep(1000);
    for (let shard = 0; shard < SHARDS; shard++) {
      const { firstNumber, lastNumber } = this.rig.cluster.stream(`LOG${shard}`);
      expect(firstNumber).toBe(lastNumber);
    }
  }

  async rows(): Promise<string[]> {
    const found: string[] = [];
    for (const [shard, { host }] of this.open.entries()) {
      await host.reach(await this.node.port.log.last(shard));
      for (const text of await rowsOf(host.table(this.cpu.id))) found.push(`${shard}: ${text}`);
    }
    return found;
  }

  source(more: Partial<ClusterSource> = {}): ClusterSource {
    const { cluster, files } = this.rig;
    return {
      port: memoryPort(cluster, "backup"),
      shards: SHARDS,
      files: memoryFileStore(files),
      folder: undefined,
      clock: cluster.time,
      sleep: (millis) => cluster.sleep("backup", millis),
      ...more,
    };
  }

  backUp(target: BackupTarget, more: Partial<ClusterSource> = {}): Promise<TakenBackup> {
    return takeClusterBackup(target, this.source(more), testIo());
  }
}

function row(time: number, value = time, tag = "x"): WrittenRow {
  return { tag, time, value };
}

/** A cluster with rows in files, twice over, and rows that only the log has. */
async function busy(): Promise<Trial> {
  const trial = await Trial.start();
  for (let shard = 0; shard < SHARDS; shard++) await trial.write(shard, row(1), row(2));
  await trial.flush();
  for (let shard = 0; shard < SHARDS; shard++) await trial.write(shard, row(2, 20), row(3, 3, "y"));
  await trial.flush();
  await trial.write(0, row(3, 30, "y"), row(4));
  await trial.write(1, row(5, 5, "z"));
  return trial;
}

const BUSY: readonly string[] = ["0: x 1 1", "0: x 2 20", "0: x 4 4", "0: y 3 30", "1: x 1 1", "1: x 2 20", "1: y 3 3", "1: z 5 5"];

/** What was made of a backup. */
interface Made {
  readonly cluster: MemoryCluster;
  readonly files: Map<string, Uint8Array>;
}

async function clusterBackup(target: BackupTarget, id?: string): Promise<ClusterManifest> {
  const picked = await pickBackup(target, { id });
  if (picked.kind === "cluster") return picked;
  throw new Error("it is of a server");
}

function newPlace(): Made {
  return { cluster: new MemoryCluster(), files: new Map() };
}

async function restore(
  target: BackupTarget,
  made: Made,
  more: { readonly id?: string; readonly cluster?: NewCluster; readonly files?: FileStore; readonly shards?: number } = {},
): Promise<Made> {
  const place = {
    cluster: more.cluster ?? memoryNewCluster(made.cluster),
    shards: more.shards ?? SHARDS,
    files: more.files ?? memoryFileStore(made.files),
    filesText: "memory",
    someFile: async () => made.files.keys().next().value,
    sleep: () => Promise.resolve(),
  };
  await restoreCluster(target, await clusterBackup(target, more.id), place, testIo());
  return made;
}

async function restored(target: BackupTarget, id?: string): Promise<Trial> {
  return await Trial.start(await restore(target, newPlace(), id === undefined ? {} : { id }));
}

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
    const rig = await ShardRig.start({ shards: SHARDS });
    rigs.push(rig);
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
    expect(shard?.engine.followed.applied).toBe(await trial.node.port.log.last(0));
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

describe("beside writes, flushes and merges at random", () => {
  test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    "seed %i: nothing acknowledged is missing or older, and nothing is made up",
    async (seed) => {
      const trial = await Trial.start({ seed });
      const { random, time } = trial.rig.cluster;
      const target = memoryTarget();
      /** By row: its newest value, which only rises. */
      const acknowledged = new Map<string, number>();
      const written = new Set<string>();
      let value = 0;
      const step = async (): Promise<void> => {
        const kind = random.below(10);
        if (kind === 0) return await trial.flush();
        if (kind === 1) return await trial.open[random.below(SHARDS)]?.host.engine.compactTable("public", "cpu");
        if (kind === 2) return await time.sleep(random.below(80_000));
        const shard = random.below(SHARDS);
        const rows = Array.from({ length: 1 + random.below(5) }, () => row(1 + random.below(30), ++value));
        const last = new Map(rows.map((one) => [`${shard}: x ${one.time}`, one.value]));
        for (const [key, its] of last) written.add(`${key} ${its}`);
        await trial.write(shard, ...[...last].map(([key, its]) => row(Number(key.split(" ")[2]), its)));
        for (const [key, its] of last) acknowledged.set(key, its);
      };
      for (let i = 0; i < 60; i++) await step();
      for (let round = 0; round < 3; round++) {
        const before = new Map(acknowledged);
        let isDone = false;
        const taken = trial.backUp(target).finally(() => {
          isDone = true;
        });
        while (!isDone) await step();
        const { manifest } = await taken;
        const found = await (await restored(target, manifest.id)).rows();
        for (const text of found) expect([text, written.has(text)]).toEqual([text, true]);
        const values = new Map(found.map((text) => [text.slice(0, text.lastIndexOf(" ")), Number(text.slice(text.lastIndexOf(" ")))]));
        for (const [key, its] of before) expect([key, (values.get(key) ?? 0) >= its]).toEqual([key, true]);
      }
    },
  );
});

/** What restoring comes to, and that nothing is there when it is refused. */
async function refusal(target: BackupTarget, more: Parameters<typeof restore>[2] = {}): Promise<string> {
  const made = newPlace();
  const { message } = await errorOf(restore(target, made, more));
  expect([made.files.size, made.cluster.stream("MANIFEST").lastNumber, made.cluster.stream("LOG0").lastNumber]).toEqual([0, 0, 0]);
  return message;
}

describe("is refused before anything is written:", () => {
  async function taken(): Promise<{ readonly target: MemoryTarget; readonly id: string }> {
    const trial = await busy();
    const target = memoryTarget();
    return { target, id: (await trial.backUp(target)).manifest.id };
  }

  test("a backup with a byte that is another, whichever object it is in", async () => {
    const { target } = await taken();
    for (const [name, whole] of target.objects) {
      for (const at of [0, Math.floor(whole.length / 2), whole.length - 1]) {
        const bytes = whole.slice();
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        target.objects.set(name, bytes);
        expect([name, at, await refusal(target)]).toEqual([name, at, expect.stringMatching(/is damaged|cannot be restored/)]);
      }
      target.objects.set(name, whole);
    }
  });

  test("a backup that lacks an object, or was not finished", async () => {
    const { target, id } = await taken();
    const all = [...target.objects];
    for (const [name, whole] of all) {
      target.objects.delete(name);
      const message = await refusal(target, { id });
      expect([name, message]).toEqual([name, expect.stringMatching(/is missing|was not finished/)]);
      target.objects.set(name, whole);
    }
  });

  test("a backup of a newer version, or of something else, by its number", async () => {
    const { target, id } = await taken();
    const name = `${id}/manifest.json`;
    const [line = ""] = new TextDecoder().decode(target.objects.get(name)).split("\n");
    const put = (text: string): void => {
      const sum = new Bun.CryptoHasher("sha256").update(text).digest("hex");
      target.objects.set(name, new TextEncoder().encode(`${text}\n${sum}\n`));
    };
    put(line.replace('"version":2', '"version":3'));
    expect(await refusal(target)).toContain("it has version 3; this Varve knows 1 and 2: upgrade it");
    put(line.replace('"kind":"cluster"', '"kind":"fleet"'));
    expect(await refusal(target)).toContain("it is of a fleet, which this Varve does not know");
    put(line.replace("data/shard-0000/tables", "data/../tables"));
    expect(await refusal(target)).toContain("which is no file of a data directory");
    put(line.replace('"shards":2', '"shards":3'));
    expect(await refusal(target, { shards: 3 })).toContain("it is of 2 shards, and the backup of 3");
    expect((await findBackups(target)).map(({ kind }) => kind)).toEqual(["whole"]);
  });

  test("a place with another number of shards, with files, with a cluster, with streams of another one", async () => {
    const { target } = await taken();
    expect(await refusal(target, { shards: 4 })).toContain("it has 2 shards; set cluster.shards = 2, for all parts");
    const made = await restore(target, newPlace());
    const files = [...made.files.keys()];
    expect((await errorOf(restore(target, made))).message).toContain("is there; name an empty place");
    const { message } = await errorOf(restore(target, { ...made, files: new Map() }));
    expect(message).toBe("there is a cluster here already");
    expect([...made.files.keys()]).toEqual(files);
    const other = newPlace();
    other.cluster.stream("LOG0").append("log.0", new Uint8Array(1));
    expect((await errorOf(restore(target, other))).message).toContain("another is there");
    expect(other.files.size).toBe(0);
    for (let i = 0; i < 9; i++) other.cluster.stream("LOG1").append("log.1", new Uint8Array(1));
    expect((await errorOf(restore(target, other))).message).toContain("cannot restore into stream LOG1");
  });

  test("files that cannot be written: those that were are deleted again", async () => {
    const { target } = await taken();
    const made = newPlace();
    const files = memoryFileStore(made.files);
    let left = 2;
    const full: FileStore = { ...files, create: (name) => (left-- > 0 ? files.create(name) : Promise.reject(new Error("no room"))) };
    expect((await errorOf(restore(target, made, { files: full }))).message).toBe("no room");
    expect([made.files.size, made.cluster.stream("LOG0").lastNumber]).toEqual([0, 0]);
  });
});
