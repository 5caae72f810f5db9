/** What every `Ordered` must do; run by `cluster-port-contract.ts`. */
import { expect } from "bun:test";
import type { ClusterPort } from "../../src/cluster/port/cluster-port.ts";
import type { OrderedName } from "../../src/cluster/port/ordered.ts";
import { bytesOf, failureName, textOf, textsUntil } from "../support/cluster/port-reads.ts";
import type { It, Open } from "./cluster-port-fixture.ts";

/** Registers the tests. */
export function orderedContract(it: It, open: Open): void {
  appendsAreConditional(it, open);
  listsAreRead(it, open);
}

async function textsOf(port: ClusterPort, name: OrderedName, after = 0): Promise<string[]> {
  return (await port.ordered.read(name, after)).map(({ bytes }) => textOf(bytes));
}

function appendsAreConditional(it: It, open: Open): void {
  it("ordered: only who knows the last entry appends", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const first = await a.ordered.append("manifest.0", bytesOf("a"), 0);
    expect(first).toBeNumber();
    expect(await b.ordered.append("manifest.0", bytesOf("b"), 0)).toBe("refused");
    expect(await b.ordered.append("manifest.0", bytesOf("b"), (first as number) + 1)).toBe("refused");
    const second = await b.ordered.append("manifest.0", bytesOf("b"), first as number);
    expect(second).toBeGreaterThan(first as number);
    expect(await a.ordered.append("manifest.0", bytesOf("c"), first as number)).toBe("refused");
    expect(await textsOf(a, "manifest.0")).toEqual(["a", "b"]);
  });

  it("ordered: lists do not touch each other", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const a = await port.ordered.append("manifest.0", bytesOf("a"), 0);
    const b = await port.ordered.append("manifest.1", bytesOf("b"), 0);
    expect(await port.ordered.append("catalog", bytesOf("c"), 0)).toBe(1);
    expect(await port.ordered.append("manifest.0", bytesOf("aa"), a as number)).toBeNumber();
    expect(await port.ordered.append("manifest.1", bytesOf("bb"), b as number)).toBeNumber();
    expect(await port.ordered.append("catalog", bytesOf("cc"), 1)).toBe(2);
    expect([await textsOf(port, "manifest.0"), await textsOf(port, "manifest.1"), await textsOf(port, "catalog")]).toEqual([
      ["a", "aa"],
      ["b", "bb"],
      ["c", "cc"],
    ]);
  });

  it("ordered: of sixteen that append behind one entry, one wins", async () => {
    const fixture = await open();
    const ports = await Promise.all([fixture.connect(), fixture.connect(), fixture.connect(), fixture.connect()]);
    for (let last = 0; last < 4; last++) {
      const appended = Array.from({ length: 16 }, (_, i) =>
        (ports[i % 4] as ClusterPort).ordered.append("catalog", bytesOf(`${last}-${i}`), last),
      );
      const results = await Promise.all(appended);
      expect(results.filter((result) => result !== "refused")).toEqual([last + 1]);
    }
    expect(await textsOf(ports[0] as ClusterPort, "catalog")).toHaveLength(4);
  });

  it("ordered: an entry that is too long is refused by name, and the list is as it was", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    expect(await failureName(port.ordered.append("catalog", new Uint8Array(port.messageBytesMax + 1), 0))).toBe("too-large");
    expect(await port.ordered.append("catalog", new Uint8Array(port.messageBytesMax), 0)).toBe(1);
  });
}

function listsAreRead(it: It, open: Open): void {
  it("ordered: a read has all above a number, and nothing of an empty list", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    expect(await textsOf(a, "catalog")).toEqual([]);
    for (let i = 0; i < 30; i++) await a.ordered.append("catalog", bytesOf(`e${i}`), i);
    expect(await textsOf(b, "catalog")).toEqual(Array.from({ length: 30 }, (_, i) => `e${i}`));
    expect(await textsOf(b, "catalog", 28)).toEqual(["e28", "e29"]);
    expect(await textsOf(b, "catalog", 30)).toEqual([]);
    expect(await failureName(b.ordered.read("catalog", 31))).toBe("went-back");
  });

  it("ordered: a read of many entries has them all, among those of other lists", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const numbers: number[] = [];
    let others = 0;
    for (let i = 0; i < 60; i++) {
      numbers.push((await a.ordered.append("manifest.0", bytesOf(`e${i}`), numbers.at(-1) ?? 0)) as number);
      if (i % 3 === 0) others = (await a.ordered.append("manifest.1", bytesOf("other"), others)) as number;
    }
    const texts = numbers.map((_, i) => `e${i}`);
    expect(await textsOf(b, "manifest.0")).toEqual(texts);
    expect(await textsOf(b, "manifest.0", numbers[9])).toEqual(texts.slice(10));
    expect(await textsOf(b, "manifest.0", numbers[58])).toEqual(["e59"]);
    await a.ordered.trim("manifest.0", numbers[20] as number);
    expect(await textsOf(b, "manifest.0")).toEqual(texts.slice(20));
  });

  it("ordered: followers see each entry once, of their list alone", async () => {
    const fixture = await open();
    const [a, b] = [await fixture.connect(), await fixture.connect()];
    const seen = textsUntil(b.ordered.follow("manifest.1", 0), 3);
    let last = 0;
    for (const text of ["x", "y", "z"]) {
      const others = await a.ordered.read("manifest.0", 0);
      await a.ordered.append("manifest.0", bytesOf("other"), others.at(-1)?.number ?? 0);
      last = (await a.ordered.append("manifest.1", bytesOf(text), last)) as number;
    }
    expect((await seen).map(({ text }) => text)).toEqual(["x", "y", "z"]);
  });

  it("ordered: what is trimmed is gone, but never the last entry", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    const numbers: number[] = [];
    for (const text of ["a", "b", "c"])
      numbers.push((await port.ordered.append("manifest.0", bytesOf(text), numbers.at(-1) ?? 0)) as number);
    await port.ordered.trim("manifest.0", numbers[1] as number);
    expect(await textsOf(port, "manifest.0")).toEqual(["b", "c"]);
    await port.ordered.trim("manifest.0", (numbers[2] as number) + 100);
    expect(await textsOf(port, "manifest.0")).toEqual(["c"]);
    expect(await port.ordered.append("manifest.0", bytesOf("d"), numbers[2] as number)).toBeNumber();
  });

  it("ordered: who follows the catalogue from what was trimmed fails; a read from the start has what is left", async () => {
    const fixture = await open();
    const port = await fixture.connect();
    for (let i = 0; i < 5; i++) await port.ordered.append("catalog", bytesOf(`e${i}`), i);
    await port.ordered.trim("catalog", 4);
    expect(await failureName(textsUntil(port.ordered.follow("catalog", 1), 1))).toBe("trimmed");
    expect(await failureName(port.ordered.read("catalog", 1))).toBe("trimmed");
    expect(await textsOf(port, "catalog")).toEqual(["e3", "e4"]);
    expect((await textsUntil(port.ordered.follow("catalog", 3), 2)).map(({ number }) => number)).toEqual([4, 5]);
  });
}
