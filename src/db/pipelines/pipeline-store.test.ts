/** Stored pipelines where several servers have the same data: what others do is seen, and a table that is away stops nobody. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../base/status-code.ts";
import { LocalDb } from "../local-db.ts";
import type { Db } from "../db.ts";
import { KEPT_MS, KEPT_UNANSWERED_MS } from "./limits.ts";
import { PipelineStore } from "./pipeline-store.ts";
import { versionText } from "./version.ts";

/** A clock of one server: both its times are moved by hand. */
class HandClock implements Clock {
  nanos = 1_700_000_000_000_000_000n;
  millis = 0;
  nowMillis = (): number => Number(this.nanos / 1_000_000n);
  nowNanos = (): bigint => this.nanos;
  monotonicMillis = (): number => this.millis;
}

/** A server: its table answers, fails or stands still. */
class Server {
  readonly clock: HandClock = new HandClock();
  readonly store: PipelineStore;
  table: "answers" | "fails" | "hangs" = "answers";
  asked = 0;
  private readonly db: LocalDb;

  constructor(machine: Machine) {
    this.db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
    this.store = new PipelineStore(this.shown(), this.clock);
  }

  /** The text of a pipeline; undefined: there is none. */
  async text(name: string, version?: string): Promise<string | undefined> {
    return (await this.store.find(name, version))?.text;
  }

  private shown(): Db {
    return new Proxy<Db>(this.db, {
      get: (db, name) => {
        if (name === "sql") return (...call: Parameters<Db["sql"]>) => this.sql(...call);
        const value: unknown = Reflect.get(db, name);
        return typeof value === "function" ? value.bind(db) : value;
      },
    });
  }

  private async *sql(...call: Parameters<Db["sql"]>): ReturnType<Db["sql"]> & AsyncGenerator {
    this.asked++;
    if (this.table === "fails") throw new DbError(StatusCode.StorageUnavailable, "its shard has no owner");
    if (this.table === "hangs") await new Promise(() => undefined);
    yield* this.db.sql(...call);
  }
}

const first = "processors:\n  - date:\n      fields: [time]\n      formats: ['%Y-%m-%d']\n";
const second = `${first}# second\n`;

let machine: Machine;
let a: Server;
let b: Server;
beforeEach(async () => {
  machine = await Machine.start();
  [a, b] = [new Server(machine), new Server(machine)];
});
afterEach(() => machine.engine.close());

test("what one server stores another uses soon, and what it removes it does not", async () => {
  expect(await b.text("p")).toBeUndefined();
  await a.store.add("p", first);
  expect(await b.text("p")).toBe(first);
  a.clock.nanos += 5n;
  const { createdAtNanos } = await a.store.add("p", second);
  expect([await a.text("p"), await b.text("p")]).toEqual([second, first]);
  b.clock.millis += KEPT_MS + 1;
  expect(await b.text("p")).toBe(second);
  const version = versionText(createdAtNanos);
  expect(await b.text("p", version)).toBe(second);
  await a.store.remove("p", version);
  expect([await a.text("p"), await a.text("p", version)]).toEqual([first, undefined]);
  b.clock.millis += KEPT_MS + 1;
  expect([await b.text("p"), await b.text("p", version)]).toEqual([first, undefined]);
});

test("who looks at a pipeline sees what another server did just before, and rows come after it", async () => {
  const { createdAtNanos } = await a.store.add("p", first);
  expect(await b.text("p")).toBe(first);
  await a.store.add("p", second);
  const look = b.store.current("p", undefined);
  expect([(await look).text, await b.text("p")]).toEqual([second, second]);
  const version = versionText(createdAtNanos);
  expect((await b.store.current("p", version)).text).toBe(first);
  await a.store.remove("p", version);
  expect(String(await errorOf(b.store.current("p", version)))).toContain(`Pipeline not found, name: p, version: ${version}`);
  expect(String(await errorOf(b.store.current("x".repeat(300), undefined)))).toContain("version: latest");
});

test("what was stored last is the newest, also behind the clock of another server", async () => {
  a.clock.nanos += 60_000_000_000n;
  const ahead = await a.store.add("p", first);
  const behind = await Promise.all([b.store.add("p", second), b.store.add("p", `${second}# third\n`)]);
  expect(behind.map(({ createdAtNanos }) => createdAtNanos - ahead.createdAtNanos)).toEqual([1n, 2n]);
  a.clock.millis += KEPT_MS + 1;
  expect(await a.text("p")).toBe(`${second}# third\n`);
});

test("what is known is not compiled again while its text is the same", async () => {
  await a.store.add("p", first);
  const found = await b.store.find("p", undefined);
  b.clock.millis += KEPT_MS + 1;
  expect((await b.store.find("p", undefined))?.compiled).toBe(found?.compiled as never);
});

test("those who ask while the table is looked at share the look, and nobody looks before it is time", async () => {
  await a.store.add("p", first);
  await Promise.all(Array.from({ length: 20 }, () => b.text("p")));
  expect(b.asked).toBe(1);
  b.clock.millis += KEPT_MS;
  await b.text("p");
  expect(b.asked).toBe(1);
});

test.each(["fails", "hangs"] as const)("a table that %s stops nobody for whom a pipeline is known, for a time", async (state) => {
  await a.store.add("p", first);
  await b.text("p");
  b.table = state;
  b.clock.millis += KEPT_MS + 1;
  expect(await b.text("p")).toBe(first);
  b.clock.millis += 2000;
  const begin = systemClock.monotonicMillis();
  expect(await b.text("p")).toBe(first);
  expect(systemClock.monotonicMillis() - begin).toBeLessThan(500); // Who comes later does not wait as long as the first.
  if (state === "hangs") return;
  b.clock.millis += KEPT_UNANSWERED_MS;
  expect(String(await errorOf(b.text("p")))).toContain("its shard has no owner");
  expect(String(await errorOf(b.text("other")))).toContain("its shard has no owner");
});

test("a store here is not undone by a look that began before it", async () => {
  await a.store.add("p", first);
  a.clock.millis += KEPT_MS + 1;
  const look = a.text("p");
  a.clock.nanos += 5n;
  await a.store.add("p", second);
  await look;
  expect(await a.text("p")).toBe(second);
});
