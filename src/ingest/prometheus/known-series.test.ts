/** A decoder with the kernel beside one without: the same rows to the bit, or the same refusal. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compress } from "snappyjs";
import { mutated } from "../../../test/support/mutations.ts";
import { bytesField, messageV1, type SentSeries, textField, varint } from "../../../test/support/prometheus/messages.ts";
import { REMOTE_WRITE } from "../../../test/support/prometheus/options.ts";
import { RemoteWriteV1Decoder } from "./write-v1.ts";

const NOW = 1_700_000_000_000;

/** All that a request becomes: keys, times, bits of values, by target. */
function outcome(decoder: RemoteWriteV1Decoder, message: Uint8Array): unknown {
  try {
    return decoder.decode(message).batches.map(({ database, physicalTable, batch }) => [
      database,
      physicalTable,
      ...batch.tables.map(({ rowCount, keys, times, fields }) => {
        const vector = fields[0]?.vector;
        if (vector?.kind !== "number") throw new Error("a field of numbers");
        const bits = new BigUint64Array(vector.values.buffer as ArrayBuffer, 0, rowCount);
        return [[...keys.subarray(0, rowCount)], [...times.offsets.subarray(0, rowCount)], [...bits]];
      }),
    ]);
  } catch (error) {
    return String(error);
  }
}

class Pair {
  readonly with: RemoteWriteV1Decoder;
  readonly without: RemoteWriteV1Decoder;

  constructor(dictionaryBytesMax?: number) {
    this.with = new RemoteWriteV1Decoder(REMOTE_WRITE, dictionaryBytesMax, 0);
    this.without = new RemoteWriteV1Decoder(REMOTE_WRITE, dictionaryBytesMax, Number.POSITIVE_INFINITY);
  }

  check(message: Uint8Array, isUnfolded = false): void {
    const want = outcome(this.without, message);
    const { room } = this.with;
    const given = isUnfolded && room !== undefined ? room.unfold(new Uint8Array(compress(message)), 1 << 24) : message;
    expect(outcome(this.with, given)).toEqual(want);
  }
}

function series(n: number, samples: SentSeries["samples"] = [{ time: NOW + n, value: n / 7 }]): SentSeries {
  return { labels: { __name__: `metric_${n}_total`, host: "a".repeat(n % 20) }, samples };
}

function fleet(count: number, shift: number): SentSeries[] {
  return Array.from({ length: count }, (_, n) => series(n, [{ time: NOW + shift + n, value: shift * n }]));
}

describe("requests of the same series", () => {
  test("again and again, copied or unfolded to where the kernel reads", () => {
    const pair = new Pair();
    for (let round = 0; round < 6; round++) pair.check(messageV1(fleet(300, round * 15_000)), round % 2 === 1);
  });
  test("more rows than the kernel makes at once", () => {
    const pair = new Pair();
    for (let round = 0; round < 3; round++) pair.check(messageV1(fleet(9000, round)), true);
  });
  test("in other orders, with some gone and some new", () => {
    const pair = new Pair();
    for (let round = 0; round < 8; round++) {
      const sent = fleet(200 + round * 10, round).filter((_, n) => (n * 7 + round) % 11 !== 0);
      pair.check(messageV1(round % 3 === 2 ? sent.toReversed() : sent));
    }
  });
  test("that name another database are no rows of this one", () => {
    const pair = new Pair();
    const other = (n: number): SentSeries => ({
      labels: { ...series(n).labels, __database__: "other" },
      samples: [{ time: NOW, value: n }],
    });
    for (let round = 0; round < 4; round++) pair.check(messageV1(fleet(30, round).flatMap((each, n) => [each, other(n)])));
  });
  test("after the decoder forgot all of them", () => {
    const pair = new Pair(4096);
    for (let round = 0; round < 6; round++) pair.check(messageV1(fleet(100, round).slice(round % 2 === 0 ? 0 : 50)));
  });
});

describe("samples", () => {
  const check = (...samples: SentSeries["samples"][number][]): void => {
    const pair = new Pair();
    for (let round = 0; round < 4; round++) pair.check(messageV1([...fleet(5, round), series(7, samples), ...fleet(3, round)]));
  };
  test("none, or several", () => {
    check();
    check({ time: NOW, value: 1 }, { time: NOW + 1, value: 2 });
  });
  test("with times of five to seven bytes", () => {
    for (const time of [2 ** 35 - 1, 2 ** 35, 2 ** 42 - 1, 2 ** 42]) check({ time, value: 1 });
  });
  test("without a time, or without a value", () => {
    const pair = new Pair();
    const labels = [...textField(1, "__name__"), ...textField(2, "some_metric_name")];
    for (const sample of [[], [0x10, ...varint(NOW)], [9, 1, 2, 3, 4, 5, 6, 7, 8], [0x10, ...varint(NOW), 9, 1, 2, 3, 4, 5, 6, 7, 8]]) {
      const message = bytesField(1, [...bytesField(1, labels), ...bytesField(2, sample)]);
      for (let round = 0; round < 3; round++) pair.check(Uint8Array.from([...messageV1([series(1)]), ...message]));
    }
  });
  test("which NaN a value is stays", () => {
    const pair = new Pair();
    const stale = [9, 0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0x10, ...varint(NOW)];
    const message = bytesField(1, [
      ...bytesField(1, [...textField(1, "__name__"), ...textField(2, "stale_metric")]),
      ...bytesField(2, stale),
    ]);
    for (let round = 0; round < 4; round++) pair.check(Uint8Array.from([...message, ...message, ...messageV1(fleet(2, 0))]));
  });
});

test("labels beyond the first memory are learnt once it has grown", () => {
  const pair = new Pair();
  const long = (n: number): SentSeries => ({
    labels: { __name__: `m_${n}`, text: `${n}`.repeat(200) },
    samples: [{ time: NOW, value: n }],
  });
  const message = messageV1(Array.from({ length: 2500 }, (_, n) => long(n)));
  const before = pair.with.memoryBytes;
  for (let round = 0; round < 4; round++) pair.check(message);
  expect(pair.with.memoryBytes).toBeGreaterThan(before + 2 * 1024 * 1024);
});

test("broken messages are refused or read alike", () => {
  const pair = new Pair();
  const message = messageV1(fleet(12, 1));
  for (let round = 0; round < 3; round++) pair.check(message);
  const property = fc.property(mutated(fc.constant(message)), (broken) => {
    pair.check(broken);
    pair.check(message);
  });
  fc.assert(property, { seed: 20261121, numRuns: 700 });
});
