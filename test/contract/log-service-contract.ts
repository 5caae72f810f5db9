/** What every `LogService` must do; run by `cluster-port-contract.ts`. */
import { expect } from "bun:test";
import { portFailureOf } from "../../src/cluster/port/port-error.ts";
import { bytesOf, failureName, textsUntil, textOf } from "../support/cluster/port-reads.ts";
import { type It, type Open, STREAM_BYTES } from "./cluster-port-fixture.ts";

/** Registers the tests. */
export function logServiceContract(it: It, open: Open): void {
  appendsAreNumbered(it, open);
  followersSeeAll(it, open);
  trimsMakeRoom(it, open);
}

function appendsAreNumbered(it: It, open: Open): void {
  it("log: numbers follow each other from 1 on, in each shard for itself", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    expect(await a.log.last(0)).toBe(0);
    expect([await a.log.append(0, bytesOf("x")), await b.log.append(0, bytesOf("y")), await a.log.append(1, bytesOf("z"))]).toEqual([
      1, 2, 1,
    ]);
    expect([await a.log.last(0), await b.log.last(0), await b.log.last(1)]).toEqual([2, 2, 1]);
  });

  it("log: appends under way at once have numbers of their own, and a follower sees each once", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const texts = Array.from({ length: 100 }, (_, i) => `r${i}`);
    const numbers = await Promise.all(texts.map((text, i) => (i % 2 === 0 ? a : b).log.append(0, bytesOf(text))));
    expect([...numbers].sort((x, y) => x - y)).toEqual(texts.map((_, i) => i + 1));
    const seen = await textsUntil(a.log.follow(0, 0), 100);
    expect(seen.map(({ number, text }) => `${number} ${text}`)).toEqual(
      numbers
        .map((number, i) => ({ number, text: `r${i}` }))
        .sort((x, y) => x.number - y.number)
        .map((r) => `${r.number} ${r.text}`),
    );
  });

  it("log: takes records of no bytes and of the most, refuses longer ones and keeps nothing of them", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const longest = new Uint8Array(port.messageBytesMax).map((_, i) => i * 31);
    expect([await port.log.append(0, new Uint8Array(0)), await port.log.append(0, longest)]).toEqual([1, 2]);
    const error = await failureName(port.log.append(0, new Uint8Array(port.messageBytesMax + 1)));
    expect([error, await port.log.last(0)]).toEqual(["too-large", 2]);
    const records: Uint8Array[] = [];
    for await (const list of port.log.follow(0, 0)) {
      records.push(...list.map(({ bytes }) => bytes));
      if (records.length === 2) break;
    }
    expect([records[0]?.length, Buffer.compare(records[1] ?? new Uint8Array(0), longest)]).toEqual([0, 0]);
  });

  it("log: a signal that has fired and a closed port end calls", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const signal = AbortSignal.abort();
    expect(await failureName(port.log.append(0, bytesOf("x"), { signal }))).toBe("cancelled");
    expect(await failureName(port.log.last(0, { signal }))).toBe("cancelled");
    expect(await port.log.last(0)).toBe(0);
    await port.close();
    expect(await failureName(port.log.append(0, bytesOf("x")))).toBe("closed");
    expect(await failureName(port.log.last(0))).toBe("closed");
  });
}

function followersSeeAll(it: It, open: Open): void {
  it("log: a follower begins behind any number, and waits for what comes", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    for (const text of ["1", "2", "3"]) await a.log.append(0, bytesOf(text));
    expect((await textsUntil(b.log.follow(0, 1), 2)).map(({ text }) => text)).toEqual(["2", "3"]);
    const later = textsUntil(b.log.follow(0, 3), 2);
    await fixture.sleep(50);
    await a.log.append(0, bytesOf("4"));
    await fixture.sleep(50);
    await a.log.append(0, bytesOf("5"));
    expect((await later).map(({ number, text }) => `${number} ${text}`)).toEqual(["4 4", "5 5"]);
  });

  it("log: a signal ends a follower quietly, closing the port with `closed`", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const controller = new AbortController();
    const seen: string[] = [];
    const loud = failureName(textsUntil(b.log.follow(0, 0), 5));
    await a.log.append(0, bytesOf("1"));
    for await (const list of a.log.follow(0, 0, { signal: controller.signal })) {
      seen.push(...list.map(({ bytes }) => textOf(bytes)));
      void fixture.sleep(20).then(() => controller.abort()); // While it waits for more.
    }
    expect(seen).toEqual(["1"]);
    await b.close();
    expect(await loud).toBe("closed");
  });

  it("log: a slow follower gets everything, in order, and what nobody takes stays with the servers", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const seen: number[] = [];
    const record = new Uint8Array(64 * 1024);
    const writing = (async () => {
      for (let i = 0; i < 40; i++) await a.log.append(0, record);
    })();
    for await (const list of b.log.follow(0, 0)) {
      seen.push(...list.map(({ number }) => number));
      if (seen.length >= 40) break;
      await fixture.sleep(20);
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  it("log: a follower that begins above the last number is told that the stream went back", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    await port.log.append(0, bytesOf("1"));
    expect(await failureName(textsUntil(port.log.follow(0, 5), 1))).toBe("went-back");
  });
}

function trimsMakeRoom(it: It, open: Open): void {
  it("log: what is trimmed is gone, numbers go on, and twice does no harm", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    for (const text of ["1", "2", "3", "4"]) await port.log.append(0, bytesOf(text));
    await port.log.trim(0, 2);
    await port.log.trim(0, 2);
    await port.log.trim(0, 1);
    expect((await textsUntil(port.log.follow(0, 2), 2)).map(({ text }) => text)).toEqual(["3", "4"]);
    await port.log.trim(0, 4);
    expect([await port.log.last(0), await port.log.append(0, bytesOf("5"))]).toEqual([4, 5]);
    expect((await textsUntil(port.log.follow(0, 4), 1)).map(({ text }) => text)).toEqual(["5"]);
  });

  it("log: one that is lifted goes on behind the number, and who followed it from before is told", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    for (const text of ["1", "2", "3"]) await a.log.append(0, bytesOf(text));
    await b.log.lift(0, 1_000_000);
    await b.log.lift(0, 1_000_000);
    expect([await a.log.last(0), await b.log.last(0)]).toEqual([1_000_000, 1_000_000]);
    expect([await b.log.append(0, bytesOf("4")), await a.log.append(0, bytesOf("5"))]).toEqual([1_000_001, 1_000_002]);
    expect((await textsUntil(a.log.follow(0, 1_000_000), 2)).map(({ text }) => text)).toEqual(["4", "5"]);
    expect(await failureName(textsUntil(a.log.follow(0, 3), 1))).toBe("trimmed");
  });

  it("log: a follower that wants what was trimmed fails, also where nothing is behind it", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    for (const text of ["1", "2", "3"]) await a.log.append(0, bytesOf(text));
    await a.log.trim(0, 2);
    expect(await failureName(textsUntil(b.log.follow(0, 1), 1))).toBe("trimmed");
    await a.log.trim(0, 3);
    expect(await failureName(textsUntil(b.log.follow(0, 0), 1))).toBe("trimmed");
    expect(await failureName(textsUntil(b.log.follow(0, 2), 1))).toBe("trimmed");
  });

  it("log: a full stream refuses and forgets nothing; a trim makes room", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const record = new Uint8Array(512 * 1024);
    const numbers: number[] = [];
    let failure: unknown;
    while (failure === undefined && numbers.length * record.length <= STREAM_BYTES) {
      await port.log.append(0, record).then(
        (number) => numbers.push(number),
        (error: unknown) => {
          failure = error;
        },
      );
    }
    expect(portFailureOf(failure)).toBe("full");
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1));
    expect(numbers.length).toBeGreaterThan(4);
    expect((await textsUntil(port.log.follow(0, 0), numbers.length)).map(({ number }) => number)).toEqual(numbers);
    await port.log.trim(0, 3);
    expect(await port.log.append(0, bytesOf("more"))).toBe(numbers.length + 1);
    expect(textOf(record).length).toBe(record.length);
  });
}
