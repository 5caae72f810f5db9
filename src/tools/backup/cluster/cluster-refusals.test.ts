/** What is not restored, and leaves everything as it is. */
import { afterEach, describe, expect, test } from "bun:test";
import { busy, endTrials, newPlace, restore } from "../../../../test/support/cluster/backup-trial.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { memoryTarget, type MemoryTarget } from "../../../../test/support/memory-target.ts";
import type { FileStore } from "../../../storage/file-store/file-store.ts";
import { memoryFileStore } from "../../../storage/file-store/memory-file-store.ts";
import { findBackups } from "../manifest.ts";
import type { BackupTarget } from "../target.ts";

afterEach(endTrials);

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
    expect((await errorOf(restore(target, other))).message).toContain("stream LOG0: it is there already");
    expect(other.files.size).toBe(0);
    const third = newPlace();
    for (let i = 0; i < 9; i++) third.cluster.stream("LOG1").append("log.1", new Uint8Array(1));
    expect((await errorOf(restore(target, third))).message).toContain("cannot restore into stream LOG1");
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
