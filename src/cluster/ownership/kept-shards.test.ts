import { expect, test } from "bun:test";
import { Failures } from "./failures.ts";
import { KeptShards } from "./kept-shards.ts";

/** Time that a test sets. */
class SetTime {
  millis = 1000;

  nowMillis(): number {
    return this.millis;
  }

  monotonicMillis(): number {
    return this.millis;
  }

  after(): () => void {
    throw new Error("nothing waits");
  }
}

test("a shard is kept for a minute, twice as long each time it is soon taken again, a quarter of an hour at most", () => {
  const time = new SetTime();
  const kept = new KeptShards(time);
  const lengths: number[] = [];
  for (let i = 0; i < 7; i++) {
    kept.keep(3, "a-1");
    const begun = time.millis;
    while (kept.isKept(3, "a-1")) time.millis += 1000;
    lengths.push((time.millis - begun) / 1000);
  }
  expect(lengths).toEqual([60, 120, 240, 480, 900, 900, 900]);
  time.millis += 900_001;
  kept.keep(3, "a-1");
  time.millis += 60_000;
  expect(kept.isKept(3, "a-1")).toBe(false);
});

test("a shard is kept from the process that did not take it, not from others", () => {
  const kept = new KeptShards(new SetTime());
  kept.keep(3, "a-1");
  expect([kept.isKept(3, "a-1"), kept.isKept(3, "a-2"), kept.isKept(3, undefined), kept.isKept(4, "a-1")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("an attempt that came to nothing does not count", () => {
  const time = new SetTime();
  const kept = new KeptShards(time);
  for (let i = 0; i < 5; i++) kept.keep(3, "a-1")();
  expect(kept.isKept(3, "a-1")).toBe(false);
  kept.keep(3, "a-1");
  kept.keep(3, "a-1")();
  time.millis += 59_999;
  expect(kept.isKept(3, "a-1")).toBe(true);
  time.millis += 1;
  expect(kept.isKept(3, "a-1")).toBe(false);
});

test("a shard that fails is tried after 1, 2, 4 … 30 s, until it is forgotten", () => {
  const time = new SetTime();
  const failures = new Failures(time);
  const waits: number[] = [];
  for (let i = 0; i < 7; i++) {
    failures.failed(3, `no ${i}`, i === 2 || i > 3);
    const begun = time.millis;
    while (failures.isWaiting(3)) time.millis += 500;
    waits.push((time.millis - begun) / 1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect(failures.all().get(3)).toMatchObject({ reason: "no 6", times: 7, timesLate: 4 });
  expect([failures.openMillis(3), failures.openMillis(4)]).toEqual([480_000, 120_000]);
  failures.forget(3);
  expect([failures.openMillis(3), failures.all().size, failures.isWaiting(3)]).toEqual([120_000, 0, false]);
});
