/** How calls end when a server answers late, wrongly or not at all: with a server of the test's own, so that it runs everywhere. */
import { expect, test } from "bun:test";
import { FakeNats, NO_RESPONDERS } from "../../../test/support/cluster/fake-nats.ts";
import { bytesOf, failureName } from "../../../test/support/cluster/port-reads.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type PortFailure, portFailureOf } from "../port/port-error.ts";
import { Appends } from "./appends.ts";
import { NatsLink } from "./nats-link.ts";
import { NatsLog } from "./nats-log.ts";
import { NatsOrdered } from "./nats-ordered.ts";

const CALL_MILLIS = 150;

async function opened(
  fakes: readonly FakeNats[],
  clock: Clock = systemClock,
  callMillis: number = CALL_MILLIS,
): Promise<{ link: NatsLink; log: NatsLog; ordered: NatsOrdered }> {
  const servers = fakes.map(({ address }) => address);
  const options = { servers, credentials: { kind: "none" }, tls: undefined, name: "test", callMillis } as const;
  const link = await NatsLink.open(options, { logger: recordingLogger().logger, clock });
  const appends = new Appends(link, 1000);
  return { link, log: new NatsLog(link, appends), ordered: new NatsOrdered(link, appends) };
}

async function withFake(body: (fake: FakeNats, parts: Awaited<ReturnType<typeof opened>>) => Promise<void>): Promise<void> {
  const fake = new FakeNats();
  const parts = await opened([fake]);
  try {
    await body(fake, parts);
  } finally {
    await parts.link.close();
    fake.stop();
  }
}

function apiError(code: number, errCode: number): string {
  return JSON.stringify({ type: "x", error: { code, err_code: errCode, description: "why" } });
}

test.each<[string, PortFailure]>([
  [apiError(503, 10077), "full"],
  [apiError(500, 10047), "full"],
  [apiError(500, 10023), "full"],
  [apiError(400, 10054), "too-large"],
  [apiError(404, 10059), "vanished"],
  [apiError(503, 10008), "unavailable"],
  [apiError(500, 10118), "unavailable"],
  [apiError(503, 12345), "unavailable"],
  [apiError(500, 12345), "unknown"],
  [apiError(400, 12345), "denied"],
  ["no JSON", "unknown"],
  [NO_RESPONDERS, "unavailable"],
])("an append that is answered %s ends %s", async (answer, failure) => {
  await withFake(async (fake, { log }) => {
    fake.answer = (subject) => (subject.startsWith("log.") ? answer : apiError(503, 10008));
    expect(await failureName(log.append(0, bytesOf("x")))).toBe(failure);
  });
});

test.each([10071, 10164])("an append whose predecessor is not the last (%i) is refused", async (code) => {
  await withFake(async (fake, { ordered }) => {
    fake.answer = () => apiError(400, code);
    expect(await ordered.append("manifest.0", bytesOf("x"), 3)).toBe("refused");
  });
});

test("no answer leaves an append unknown, and a question unanswered; both are sent once", async () => {
  await withFake(async (fake, { log }) => {
    expect(await failureName(log.append(3, bytesOf("x")))).toBe("unknown");
    expect(await failureName(log.last(3))).toBe("unavailable");
    expect(fake.heard).toEqual(["log.3", "$JS.API.STREAM.INFO.LOG3"]);
  });
});

test("a stream that nobody listens to is unavailable, or gone, which is asked once for many", async () => {
  await withFake(async (fake, { log }) => {
    fake.answer = (subject) => (subject.startsWith("log.") ? NO_RESPONDERS : apiError(404, 10059));
    const failures = await Promise.all(Array.from({ length: 5 }, () => failureName(log.append(0, bytesOf("x")))));
    expect(new Set(failures)).toEqual(new Set(["vanished"]));
    expect(fake.heard.filter((subject) => subject.startsWith("$JS")).length).toBeLessThan(5);
  });
});

test("appends are sent in the order of the calls, before anybody waits", async () => {
  await withFake(async (fake, { log }) => {
    let number = 0;
    fake.answer = () => JSON.stringify({ stream: "L", seq: ++number });
    const numbers = await Promise.all(Array.from({ length: 50 }, () => log.append(0, bytesOf("x"))));
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });
});

test("a number that is not above known ones says that the stream went back, once", async () => {
  await withFake(async (fake, { log }) => {
    const numbers = [7, 3, 4];
    fake.answer = () => JSON.stringify({ stream: "L", seq: numbers.shift() });
    expect(await log.append(0, bytesOf("x"))).toBe(7);
    expect(await failureName(log.append(0, bytesOf("x")))).toBe("went-back");
    expect(await log.append(0, bytesOf("x"))).toBe(4);
  });
});

test("signals and the port's end end calls that are under way, by name", async () => {
  await withFake(async (_, { link, log }) => {
    const controller = new AbortController();
    const cancelled = failureName(log.append(0, bytesOf("x"), { signal: controller.signal }));
    const closed = failureName(log.append(0, bytesOf("x")));
    controller.abort();
    expect(await cancelled).toBe("cancelled");
    await link.close();
    expect(await closed).toBe("closed");
  });
});

test("a lost connection ends what is under way at once; meanwhile nothing is sent, and says so", async () => {
  const fake = new FakeNats();
  const patience = 30_000;
  const { link, log } = await opened([fake], systemClock, patience);
  try {
    const started = systemClock.monotonicMillis();
    const failures = [failureName(log.append(0, bytesOf("x"))), failureName(log.last(0))];
    await Bun.sleep(10);
    fake.drop();
    expect(await Promise.all(failures)).toEqual(["unknown", "unavailable"]);
    expect(systemClock.monotonicMillis() - started).toBeLessThan(patience / 2);
    expect(await failureName(log.append(0, bytesOf("y")))).toBe("unavailable");
    fake.answer = () => JSON.stringify({ stream: "L", seq: 1 });
    let number: number | undefined;
    for (let i = 0; i < 500 && number === undefined; i++) {
      await Bun.sleep(20);
      number = await log.append(0, bytesOf("z")).catch((error: unknown) => {
        expect(portFailureOf(error)).toBe("unavailable");
        return undefined;
      });
    }
    expect(number).toBe(1);
    expect(fake.heard.filter((subject) => subject === "log.0")).toHaveLength(2);
  } finally {
    await link.close();
    fake.stop();
  }
});

test("a server that answers nothing for long is left for another", async () => {
  const fakes = [new FakeNats(), new FakeNats()];
  const fast: Clock = { ...systemClock, monotonicMillis: () => systemClock.monotonicMillis() * 50 };
  const { link, log } = await opened(fakes, fast);
  try {
    const counts = (): number[] => fakes.map(({ connections }) => connections).sort((x, y) => x - y);
    expect(counts()).toEqual([0, 1]);
    // Calls fail at once while it changes servers, and it may come back to the same one first.
    for (let i = 0; i < 100 && counts()[0] === 0; i++) {
      expect(await failureName(log.last(0))).toBe("unavailable");
      await Bun.sleep(20);
    }
    expect(counts()[0]).toBeGreaterThan(0);
  } finally {
    await link.close();
    for (const fake of fakes) fake.stop();
  }
});
