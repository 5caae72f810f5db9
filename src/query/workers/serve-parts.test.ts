import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { AssertionError } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { ALL_TIME, type ScanBatch } from "../../table/scan.ts";
import { encodePlan } from "../operator/contract/plan-bytes.ts";
import { CONTROL_WORDS, type FromQueryWorker, type ToQueryWorker } from "./messages.ts";
import { PartServer } from "./serve-parts.ts";

type Open = Extract<ToQueryWorker, { kind: "open" }>;

const COLUMNS = [{ name: "v", type: { kind: "int", bits: 64, signed: true } }] as const;

function openOf(control: Int32Array): Open {
  const request = { projection: ["v"], timeRange: ALL_TIME, fieldBounds: [], tagPredicates: [], order: "none" } as const;
  const table = { schema: { database: "public", name: "t", id: 1 } } as unknown as ScannedTable;
  const plan = encodePlan({ kind: "scan", table, columns: COLUMNS, request, predicates: [] });
  const environment = { now: 0n, timeZone: "UTC", database: "public" };
  const job = { plan, snapshot: {}, environment, memoryBytesMax: 1 << 20, wantsMetrics: false, wantsRuns: false };
  return { kind: "open", fragment: 1, job, control };
}

const PULL: ToQueryWorker = {
  kind: "pull",
  fragment: 1,
  index: 0,
  part: [{ slots: { start: 0, end: 1 }, timeRange: ALL_TIME, rowCount: 1 }],
  bytesMax: 1,
};

/** What a server answers that reads a table whose scan is `scan`. */
async function answersOf(
  scan: (signal: AbortSignal | undefined) => AsyncGenerator<ScanBatch>,
  messages: (control: Int32Array) => readonly ToQueryWorker[],
): Promise<readonly FromQueryWorker[]> {
  const answers: FromQueryWorker[] = [];
  const closed: string[] = [];
  const table = { schema: { columns: [] }, scan: ({ signal }: { signal?: AbortSignal }) => scan(signal) } as unknown as ScannedTable;
  const storage = {
    open: () => ({ part: () => table, close: () => void closed.push("closed") }),
    cacheBytes: () => 0,
    giveBack: () => undefined,
    mayGrow: () => undefined,
  };
  let open = 0;
  const rests: number[] = [];
  const server = new PartServer(
    storage,
    new Scheduler(),
    (message) => void answers.push(message),
    () => void rests.push(open),
  );
  const control = new Int32Array(new SharedArrayBuffer(8));
  for (const message of messages(control)) {
    open += message.kind === "open" ? 1 : message.kind === "close" ? -1 : 0;
    await server.take(message);
  }
  expect(rests, "it rests when no fragment is left").toEqual(open === 0 ? [0] : []);
  expect(closed.length).toBe(answers.filter(({ kind }) => kind === "closed").length);
  return answers;
}

const CLOSE: ToQueryWorker = { kind: "close", fragment: 1 };

test("an error of the world fails the pull", async () => {
  const [answer] = await answersOf(
    // oxlint-disable-next-line require-yield
    async function* () {
      throw new DbError(StatusCode.StorageUnavailable, "cannot read file");
    },
    (control) => [openOf(control), PULL, CLOSE],
  );
  expect(answer).toMatchObject({
    kind: "failed",
    fragment: 1,
    error: { code: StatusCode.StorageUnavailable, message: "cannot read file", stack: undefined },
  });
});

test("a bug fails the pull and tells its stack", async () => {
  const [answer] = await answersOf(
    // oxlint-disable-next-line require-yield
    async function* () {
      throw new TypeError("no such thing");
    },
    (control) => [openOf(control), PULL, CLOSE],
  );
  expect(answer).toMatchObject({ kind: "failed", error: { code: StatusCode.Internal, message: "no such thing" } });
  expect(answer).toHaveProperty("error.stack", expect.stringContaining("serve-parts.test.ts"));
});

test("a broken invariant is no answer: it ends the worker", async () => {
  const asked = answersOf(
    // oxlint-disable-next-line require-yield
    async function* () {
      throw new AssertionError("it must not be so");
    },
    (control) => [openOf(control), PULL],
  );
  expect(asked).rejects.toThrow("it must not be so");
});

test("a scan that finds nothing for long sees that its query is over", async () => {
  let looks = 0;
  const [answer] = await answersOf(
    // As a scan does whose conditions leave no row.
    // oxlint-disable-next-line require-yield
    async function* (signal) {
      for (looks = 0; looks < 10_000; looks++) {
        if (signal?.aborted === true) throw new DbError(StatusCode.Cancelled, "Query has been cancelled");
        await Bun.sleep(1);
      }
    },
    (control) => {
      setTimeout(() => Atomics.store(control, CONTROL_WORDS.isOver, 1), 30);
      return [openOf(control), PULL, CLOSE];
    },
  );
  expect(answer).toMatchObject({ kind: "failed", error: { code: StatusCode.Cancelled } });
  expect(looks).toBeLessThan(2000);
});
