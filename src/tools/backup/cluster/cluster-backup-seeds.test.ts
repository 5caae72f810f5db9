/** Backups beside work at random. */
import { afterEach, describe, expect, test } from "bun:test";
import { endTrials, restored, row, SHARDS, Trial } from "../../../../test/support/cluster/backup-trial.ts";
import { memoryTarget } from "../../../../test/support/memory-target.ts";

afterEach(endTrials);

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
