import { expect, test } from "bun:test";
import fc from "fast-check";
import { attemptDamaged } from "../../../test/support/mutations.ts";
import { DbError } from "../../base/error.ts";
import { encodeSeries, type SentTag, SeriesReader } from "./series-frame.ts";

type Tags = readonly (readonly (string | undefined)[])[];

/** Sends series a frame at a time, as a stream does. */
class Sender {
  private readonly codes: Map<string, number>[] = [];

  frame(count: number, tags: Tags): Uint8Array {
    const sent = tags.map((values, place): SentTag => {
      this.codes[place] ??= new Map();
      const known = this.codes[place] as Map<string, number>;
      const texts: string[] = [];
      const codes = Uint32Array.from(values, (value) => {
        if (value === undefined) return 0;
        if (!known.has(value)) known.set(value, texts.push(value) + known.size - texts.length + 1);
        return known.get(value) as number;
      });
      return { place, texts, codes };
    });
    return encodeSeries(count, tags.length, sent);
  }
}

const someTags = fc
  .record({ count: fc.integer({ min: 1, max: 40 }), tagCount: fc.nat(5), texts: fc.array(fc.string(), { minLength: 1, maxLength: 6 }) })
  .chain(({ count, tagCount, texts }) =>
    fc.record({
      count: fc.constant(count),
      tags: fc.array(
        fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...texts) }), {
          minLength: count,
          maxLength: count,
        }),
        { minLength: tagCount, maxLength: tagCount },
      ),
    }),
  );

test("series come back, frame by frame, with texts that came once", () => {
  fc.assert(
    fc.property(fc.array(someTags, { maxLength: 5 }), (frames) => {
      const tagCount = frames[0]?.tags.length ?? 0;
      const [sender, reader] = [new Sender(), new SeriesReader()];
      let before = 0;
      for (const { count, tags } of frames) {
        const own = Array.from({ length: tagCount }, (_, place) => tags[place] ?? new Array<string | undefined>(count).fill(undefined));
        expect(reader.read(sender.frame(count, own))).toEqual({ count, tags: own, emptyTags: [] });
        before += count;
        expect(reader.count).toBe(before);
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});

test("empty tags come along, and those of no place are refused", () => {
  const tags = [{ place: 1, texts: ["a"], codes: Uint32Array.of(1) }];
  expect(new SeriesReader().read(encodeSeries(1, 3, tags, [0, 2]))).toEqual({
    count: 1,
    tags: [[undefined], ["a"], [undefined]],
    emptyTags: [0, 2],
  });
  expect(() => new SeriesReader().read(encodeSeries(1, 3, tags, [3]))).toThrow("an empty tag has place 3");
});

test("few series of many tags take few bytes, and a text goes once", () => {
  const tags = Array.from({ length: 500 }, (_, place) =>
    Array.from({ length: 1000 }, (_, i) => (i % 500 === place ? `value ${place}` : undefined)),
  );
  const sender = new Sender();
  const first = sender.frame(1000, tags);
  const again = sender.frame(1000, tags);
  expect(first.length).toBeLessThan(20_000);
  expect(again.length).toBeLessThan(8_000);
});

test("damaged frames are refused or read as others, and nothing else happens", () => {
  const good = new Sender().frame(6, [
    ["a", "b", "a", "c", "a", "b"],
    [undefined, undefined, "x", undefined, undefined, undefined],
  ]);
  attemptDamaged(good, { seed: 5, numRuns: 2000 }, (bytes) => {
    try {
      const { count, tags } = new SeriesReader().read(bytes);
      for (const values of tags) expect(values.length).toBe(count);
    } catch (error) {
      expect(error).toBeInstanceOf(DbError);
    }
  });
});

test.each([
  ["more series than a frame has", [0x81, 0x20, 0, 0], "4097 series, and 4096 may be there"],
  ["more tags than there may be", [1, 0xff, 0xff, 0x7f, 0], "2097151 tags"],
  ["places that do not ascend", [1, 3, 0, 2, 1, 1, 1, 65, 0, 1, 1, 1, 1, 65, 0, 1], "a column has place 1"],
  ["a code of no text", [1, 1, 0, 1, 0, 1, 1, 65, 0, 2], "a tag has code 2, of no text that came"],
  ["a value of no series", [2, 1, 0, 1, 0, 1, 1, 65, 1, 1, 2, 1], "a value is of series 2 of 2"],
  ["bytes behind the end", [1, 0, 0, 0, 9], "1 bytes follow its end"],
])("%s are refused", (_, bytes, why) => {
  expect(() => new SeriesReader().read(Uint8Array.from(bytes as number[]))).toThrow(why as string);
});
