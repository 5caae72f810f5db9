import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type TextTable, textAt, textTableOf } from "../../../column/text-table.ts";
import { decodeSeriesIndex, encodeSeriesIndex, type SeriesIndex } from "./series-index.ts";

const base: SeriesIndex = {
  columnIds: [4, 2],
  dictionaries: [textTableOf([undefined, "a", "", "\u{1f600}\ufeff"]), textTableOf([undefined, "\ufeffx"])],
  codes: [Uint32Array.of(0, 1, 2, 3), Uint32Array.of(1, 0, 1, 0)],
  ends: Uint32Array.of(1, 5, 6, 2 ** 32 - 1),
  timeBase: 1_700_000_000_000_000_000n,
  firstTimes: Float64Array.of(0, 5, 1e15, 2),
  lastTimes: Float64Array.of(0, 7, 5e15, 3),
};

function textsOf(table: TextTable): (string | undefined)[] {
  return Array.from({ length: table.size }, (_, code) => textAt(table, code));
}

function check(index: SeriesIndex): void {
  const { dictionaries, ...rest } = decodeSeriesIndex(encodeSeriesIndex(index));
  expect({ ...rest, dictionaries: dictionaries.map(textsOf) }).toEqual({
    ...index,
    dictionaries: index.dictionaries.map(textsOf),
  } as never);
}

/** What `change` makes of the plain bytes of an index, in place or as an array of its own. */
function damaged(index: SeriesIndex, change: (plain: Uint8Array, view: DataView) => unknown): Uint8Array {
  const plain = new Uint8Array(Bun.zstdDecompressSync(encodeSeriesIndex(index).subarray(4)));
  const result = change(plain, new DataView(plain.buffer));
  const changed = result instanceof Uint8Array ? result : plain;
  const out = new Uint8Array(Buffer.concat([new Uint8Array(4), Bun.zstdCompressSync(changed)]));
  new DataView(out.buffer).setUint32(0, changed.length, true);
  return out;
}

describe("a series index", () => {
  test("comes back as it was", () => check(base));
  test("may be of a table without tags", () => {
    check({ ...base, columnIds: [], dictionaries: [], codes: [] });
  });
  test("may have no runs", () => {
    const none = { codes: [new Uint32Array(0), new Uint32Array(0)], ends: new Uint32Array(0) };
    check({ ...base, ...none, firstTimes: new Float64Array(0), lastTimes: new Float64Array(0) });
  });

  test("keeps the base of the first and of the last group of 64-bit times", () => {
    const length = 64n * 86_400n * 1_000_000_000n;
    const first = -((2n ** 63n + length - 1n) / length) * length;
    const last = ((2n ** 63n - 1n) / length) * length;
    expect(first < -(2n ** 63n)).toBe(true);
    for (const [timeBase, time] of [
      [first, -(2n ** 63n)],
      [first, first + length - 1n],
      [last, last],
      [last, 2n ** 63n - 1n],
    ] as const) {
      const times = new Float64Array(4).fill(Number(time - timeBase));
      check({ ...base, timeBase, firstTimes: times, lastTimes: times });
    }
  });

  test("comes back whatever the runs are", () => {
    const run = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 2 ** 50 }), fc.nat());
    fc.assert(
      fc.property(fc.array(run, { maxLength: 40 }), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (runs, timeBase) => {
        let end = 0;
        check({
          columnIds: [1],
          dictionaries: [textTableOf([undefined, "a", "b", "c"])],
          codes: [Uint32Array.from(runs, ([code]) => code)],
          ends: Uint32Array.from(runs, ([, length]) => (end += length)),
          timeBase,
          firstTimes: Float64Array.from(runs, ([, , first]) => first),
          lastTimes: Float64Array.from(runs, ([, , first, more]) => first + more),
        });
      }),
      { seed: 12, numRuns: 60 },
    );
  });
});

describe("codes of a series index", () => {
  for (const size of [2, 256, 257, 65_536, 65_537]) {
    test(`of a dictionary of ${size} come back`, () => {
      const texts = textTableOf([undefined, ...Array.from({ length: size - 1 }, (_, i) => String(i))]);
      const index = { ...base, columnIds: [1], dictionaries: [texts], codes: [Uint32Array.of(0, 1, size - 1, size >> 1)] };
      expect(decodeSeriesIndex(encodeSeriesIndex(index)).codes).toEqual(index.codes);
    });
  }

  test("of version 1 were four bytes each", () => {
    const [a, b] = base.codes.map((codes) => new Uint8Array(Uint32Array.from(codes).buffer));
    const old = damaged(base, (plain, view) => {
      view.setUint32(0, 1, true);
      const firstEnd = 17 + 4 + 1 + 1 + 1 + 1 + 1 + 7; // Head, id, size, and the texts "a", "" and a fish with a mark.
      const secondEnd = firstEnd + 4 + 4 + 1 + 5;
      return Uint8Array.from([
        ...plain.subarray(0, firstEnd),
        ...a!,
        ...plain.subarray(firstEnd + 4, secondEnd),
        ...b!,
        ...plain.subarray(secondEnd + 4),
      ]);
    });
    const { codes, ends, firstTimes } = decodeSeriesIndex(old);
    expect({ codes, ends, firstTimes }).toEqual({ codes: base.codes, ends: base.ends, firstTimes: base.firstTimes } as never);
  });
});

describe("a broken series index", () => {
  function refuse(bytes: Uint8Array, text: string | RegExp): void {
    expect(() => decodeSeriesIndex(bytes)).toThrow(text);
  }

  test("of another version is refused", () => {
    refuse(
      damaged(base, (_, view) => view.setUint32(0, 3, true)),
      "series index has version 3, which this server does not know",
    );
  });
  test("with too many runs or strings is refused before memory is taken for them", () => {
    refuse(
      damaged(base, (_, view) => view.setUint32(4, 0xffff_ffff, true)),
      /need 4294967295 bytes/,
    );
    refuse(
      damaged(base, (plain) => Uint8Array.from([...plain.subarray(0, 21), 0xff, 0xff, 0xff, 0x7f, ...plain.subarray(22)])),
      "dictionary of 268435455 texts",
    );
  });
  test("that is cut or too long is refused, at every byte", () => {
    const plainLength = Bun.zstdDecompressSync(encodeSeriesIndex(base).subarray(4)).length;
    for (let length = 0; length < plainLength; length++)
      refuse(
        damaged(base, (plain) => plain.subarray(0, length)),
        /./,
      );
    refuse(
      damaged(base, (plain) => Uint8Array.from([...plain, 0])),
      "ends 1 bytes before its blob",
    );
  });
  test("whose codes or rows contradict themselves is refused", () => {
    refuse(encodeSeriesIndex({ ...base, codes: [Uint32Array.of(0, 1, 2, 4), base.codes[1]!] }), "code 4 in a dictionary of 4");
    refuse(encodeSeriesIndex({ ...base, ends: Uint32Array.of(1, 5, 5, 9) }), "run 2 ends at row 5, after row 5");
  });
  test("that is not compressed as it says is refused", () => {
    const bytes = encodeSeriesIndex(base);
    refuse(bytes.subarray(0, bytes.length - 3), /./);
    refuse(bytes.subarray(0, 2), /need 4 bytes/);
    const wrong = bytes.slice();
    new DataView(wrong.buffer).setUint32(0, 5, true);
    refuse(wrong, "series index of 5 bytes");
  });
});
