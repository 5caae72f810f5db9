import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalEngine } from "../../../../test/engine/local-engine.ts";
import { CPU_TABLE, type CpuTags, cpuPut } from "../../../../test/support/cpu-flight.ts";
import { systemClock } from "../../../base/clock.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { DEFAULT_USER } from "../../../db/auth/user.ts";
import { LocalDb } from "../../../db/local-db.ts";
import type { Session } from "../../../db/session.ts";
import { bulkInsert } from "./bulk-insert.ts";
import { type MessageOwner, PutStream } from "./put-stream.ts";

/** Messages whose bytes are overwritten as soon as the stream is done with them. */
async function* overwritten(
  messages: readonly Uint8Array[],
  owner: MessageOwner,
  counts: { overwritten: number },
): AsyncGenerator<Uint8Array> {
  for (const message of messages) {
    const bytes = message.slice();
    yield bytes;
    if (!owner.isMessageDone) continue;
    bytes.fill(0xa5);
    counts.overwritten++;
  }
}

for (const tags of ["texts", "dictionaries", "dictionaries each"] as const satisfies readonly CpuTags[]) {
  test(`a batch's bytes may be used again when the next is asked for, tags as ${tags}`, async () => {
    const home = await mkdtemp(join(tmpdir(), "varve-put-stream-"));
    const { engine } = await openLocalEngine(home, { sync: "never", segmentBytes: 8 << 20 }, { pageCacheBytes: 8 << 20 });
    try {
      const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
      const session: Session = { user: DEFAULT_USER, signal: new AbortController().signal, database: "public", timeZone: "UTC" };
      const parts = { db, clock: systemClock, autoCreateTable: true, influx: { defaultMergeMode: "last_non_null" as const } };
      const answer = async (text: string): Promise<string> => {
        let rows = "";
        for await (const result of db.sql(text, session)) {
          if (result.kind === "rows")
            for await (const { vectors } of result.batches) rows += JSON.stringify(vectors, (_, value) => printed(value));
        }
        return rows;
      };
      const put = async (owner: MessageOwner, messages: AsyncIterable<Uint8Array>): Promise<string> => {
        await answer(CPU_TABLE);
        const stream = await PutStream.begin(messages, owner);
        if (stream === undefined) throw new Error("a stream has messages");
        for await (const _ of bulkInsert(stream, "cpu", parts, session, new Map()));
        const all = await answer("SELECT * FROM cpu ORDER BY hostname, ts");
        await answer("DROP TABLE cpu");
        return all;
      };
      const messages = cpuPut({ batches: 4, rowsPerBatch: 300, hosts: 100, tags });
      const counts = { overwritten: 0 };
      const owner = { isMessageDone: false };
      const safe = await put({ isMessageDone: false }, overwritten(messages, { isMessageDone: false }, counts));
      expect(counts.overwritten).toBe(0);
      expect(await put(owner, overwritten(messages, owner, counts))).toBe(safe);
      expect(counts.overwritten).toBe(4); // the batches, and no dictionary
    } finally {
      await engine.close();
      await rm(home, { recursive: true });
    }
  });
}

const printed = (value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
