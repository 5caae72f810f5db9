import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorOf, failureOf } from "../../../../test/support/failure-of.ts";
import { FIELDS } from "../../../../test/support/storage/arbitrary-rows.ts";
import { jobOf, readFileRows, tableOf, wantedRows } from "../../../../test/support/storage/table.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { localFileStore } from "../../file-store/local-file-store.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import type { FlushJob } from "./flush.ts";
import { inlineFlushExecutor, workerFlushExecutor } from "./flush-executor.ts";

const root = mkdtempSync(join(tmpdir(), "varve-executor-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const schema = tableOf("millisecond", "last_row");
const requests = [
  {
    rows: Array.from({ length: 100 }, (_, i) => ({ series: i % 8, time: BigInt(i >> 3), values: [i] })),
    columnIds: [FIELDS[0]!.id],
  },
];

function job(firstFileId: number): FlushJob {
  return jobOf(schema, requests, firstFileId);
}

/** A worker's program that does what the job says by its id: 1 answers, 2 throws, 3 exits, 4 never answers. */
function misbehaving(): string {
  const path = join(root, "misbehaving.ts");
  writeFileSync(
    path,
    `self.onmessage = ({ data }) => {
      const file = data.job.firstFileId;
      if (file === 1) self.postMessage({ id: data.id, answer: [] });
      if (file === 2) throw new Error("out of memory");
      if (file === 3) process.exit(1);
    };`,
  );
  return path;
}

describe("the flush worker", () => {
  test("writes the files of several jobs, in their order", async () => {
    const folder = join(root, "worker");
    const executor = workerFlushExecutor(folder);
    const store = localFileStore(folder);
    const results = await Promise.all([1, 2, 3].map((id) => executor.flush(job(id))));
    await executor.close();
    expect(results.map((files) => files.map(({ id }) => id))).toEqual([[1], [2], [3]]);
    for (const [file] of results) expect(await readFileRows(file!, store, schema)).toEqual(wantedRows(requests, "last_row"));
  });

  test("tells why a job failed, and takes the next", async () => {
    const folder = join(root, "failing");
    writeFileSync(folder, "a file where the folder belongs");
    const executor = workerFlushExecutor(folder);
    const error = await failureOf(executor.flush(job(1)));
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    expect(error.message).toContain("cannot create file tables/0000000042/0000000001.parquet: ");
    rmSync(folder);
    expect(await executor.flush(job(2))).toHaveLength(1);
    expect(readdirSync(join(folder, "tables", "0000000042"))).toEqual(["0000000002.parquet"]);
    await executor.close();
  });

  test("that throws or exits fails all jobs it had; the next job starts another", async () => {
    const executor = workerFlushExecutor(root, misbehaving());
    for (const [last, text] of [
      [2, "out of memory"],
      [3, "it exited"],
    ] as const) {
      expect(await executor.flush(job(1))).toEqual([]);
      const lost = [job(4), job(4), job(last)].map((each) => failureOf(executor.flush(each)));
      for (const error of await Promise.all(lost)) {
        expect(error.code).toBe(StatusCode.StorageUnavailable);
        expect(error.message).toStartWith("cannot flush: the worker stopped: ");
        expect(error.message).toContain(text);
      }
    }
    expect(await executor.flush(job(1))).toEqual([]);
    await executor.close();
  });

  test("that cannot start fails its job", async () => {
    const executor = workerFlushExecutor(root, join(root, "missing.ts"));
    expect((await failureOf(executor.flush(job(1)))).message).toStartWith("cannot flush: the worker stopped: ");
    await executor.close();
  });

  test("takes no job that cannot be sent, and the next one none the less", async () => {
    const executor = workerFlushExecutor(root, misbehaving());
    const unsendable = { ...job(1), tags: (() => undefined) as unknown as FlushJob["tags"] };
    await errorOf(executor.flush(unsendable));
    expect(await executor.flush(job(1))).toEqual([]);
    await executor.close();
  });

  test("that is closed fails what waits and what comes", async () => {
    const executor = workerFlushExecutor(root, misbehaving());
    const waiting = failureOf(executor.flush(job(4)));
    await executor.close();
    expect((await waiting).message).toBe("cannot flush: the worker stopped: the server is closing");
    expect((await failureOf(executor.flush(job(1)))).message).toContain("the server is closing");
    await executor.close();
  });
});

describe("flushes on the calling thread", () => {
  test("run one after another, and a failed one does not stop the next", async () => {
    const inner = memoryFileStore();
    const events: string[] = [];
    const executor = inlineFlushExecutor({
      ...inner,
      async create(name) {
        events.push(`create ${name.slice(-9, -8)}`);
        if (name.includes("0000000002")) throw new DbError(StatusCode.StorageUnavailable, "cannot create file: the disk is full");
        const writer = await inner.create(name);
        return {
          ...writer,
          async finish() {
            const length = await writer.finish();
            events.push(`finish ${name.slice(-9, -8)}`);
            return length;
          },
        };
      },
    });
    const [first, second, third] = [executor.flush(job(1)), failureOf(executor.flush(job(2))), executor.flush(job(3))];
    await executor.close();
    expect(events).toEqual(["create 1", "finish 1", "create 2", "create 3", "finish 3"]);
    expect((await second).message).toBe("cannot create file: the disk is full");
    expect([(await first).length, (await third).length]).toEqual([1, 1]);
  });
});
