import { afterEach, expect, test } from "bun:test";
import { type LocalLog, TestLogs } from "../../../test/support/local-log.ts";
import { LocalStream } from "./log-stream.ts";

const logs = new TestLogs();
afterEach(() => logs.dispose());

/** The log that a thread of an earlier process left, with rows that nobody needs any more. */
async function leftLog(): Promise<{ readonly log: LocalLog; readonly stream: LocalStream; readonly removals: () => number }> {
  const log = await logs.open();
  log.wal.beginRecord();
  await log.wal.append(1, [new Uint8Array(1)]);
  let removals = 0;
  const stream = new LocalStream(1, log.wal, async () => {
    removals++;
  });
  return { log, stream, removals: () => removals };
}

test("a log that a thread takes over beside a trim loses its folder before that or not at all", async () => {
  const { log, stream, removals } = await leftLog();
  const deleting = log.disk.hold("delete");
  const trimmed = stream.trim(stream.head() + 1);
  await deleting;
  const taken = stream.close().then(() => removals()); // From here on the new thread makes segments there.
  await Bun.sleep(1);
  log.disk.release();
  await trimmed;
  const removalsWhenTaken = await taken;
  await stream.trim(stream.head() + 1);
  expect(removals()).toBe(removalsWhenTaken);
});

test("a log that a thread has taken over is trimmed no more here", async () => {
  const { log, stream, removals } = await leftLog();
  await stream.close();
  const before = log.disk.calls.length;
  await stream.trim(stream.head() + 1);
  expect({ calls: log.disk.calls.length - before, removals: removals() }).toEqual({ calls: 0, removals: 0 });
});

test("two trims at once remove the folder of a log once", async () => {
  const { stream, removals } = await leftLog();
  await Promise.all([stream.trim(stream.head() + 1), stream.trim(stream.head() + 1)]);
  expect({ removals: removals(), isGone: stream.isGone }).toEqual({ removals: 1, isGone: true });
});
