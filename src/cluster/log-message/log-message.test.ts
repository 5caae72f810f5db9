import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { corruptionOf } from "../../base/error.ts";
import { writerId } from "../../base/units.ts";
import {
  decodeMessage,
  encodeRecordParts,
  encodeRecords,
  encodeResumption,
  PART_OVERHEAD_BYTES,
  PARTS_SPAN_MAX,
  RECORD_BYTES_MAX,
} from "./log-message.ts";
import { MessageReader, type ReadRecord } from "./message-reader.ts";
import { messageOf, sequenceOf } from "./sequence.ts";

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textsOf(records: readonly ReadRecord[]): string[] {
  return records.map(({ sequence, payload }) => `${messageOf(sequence)}.${sequence % 4096} ${new TextDecoder().decode(payload)}`);
}

/** The message under a right checksum. */
function signed(message: Uint8Array): Uint8Array {
  const end = message.length - 4;
  new DataView(message.buffer).setUint32(end, crc32(message.subarray(0, end)), true);
  return message;
}

/** Parts of a text, of three bytes each. */
function partsOf(text: string): Uint8Array[] {
  return encodeRecordParts([bytesOf(text)], 3);
}

test("records in pieces come back whole, in order", () => {
  const message = encodeRecords([[bytesOf("ab"), bytesOf(""), bytesOf("c")], [], [bytesOf("d")]]);
  const read = decodeMessage(message);
  if (typeof read === "string" || read.kind !== "records") throw new Error("records");
  expect(read.records.map((record) => new TextDecoder().decode(record))).toEqual(["abc", "", "d"]);
  expect(read.records[0]?.buffer).toBe(message.buffer);
  expect(textsOf(new MessageReader("LOG0").take(7, message).records)).toEqual(["7.0 abc", "7.1 ", "7.2 d"]);
});

test("as many records as a message may have", () => {
  const records = Array.from({ length: 2048 }, (_, i) => [bytesOf(`${i}`)]);
  expect(textsOf(new MessageReader("LOG0").take(1, encodeRecords(records)).records).at(-1)).toBe("1.2047 2047");
  expect(() => encodeRecords([...records, []])).toThrow("1 to 2048 records; got 2049");
  expect(() => encodeRecords([])).toThrow("1 to 2048 records; got 0");
});

test("a record in parts comes with its last one, whatever lies between them", () => {
  const reader = new MessageReader("LOG0");
  const [a, b] = [partsOf("abcdefgh"), partsOf("uvwxyz")];
  expect(a.map(({ length }) => length)).toEqual([PART_OVERHEAD_BYTES + 3, PART_OVERHEAD_BYTES + 3, PART_OVERHEAD_BYTES + 2]);
  const seen: string[] = [];
  const stream = [a[0], b[0], encodeRecords([[bytesOf("r")]]), a[1], b[1], a[2]];
  const needed: (number | undefined)[] = [];
  for (const [i, message] of stream.entries()) {
    seen.push(...textsOf(reader.take(i + 1, message as Uint8Array).records));
    needed.push(reader.oldestNeeded);
  }
  expect(seen).toEqual(["3.0 r", "5.0 uvwxyz", "6.0 abcdefgh"]);
  expect(needed).toEqual([1, 1, 1, 1, 1, undefined]);
  expect(reader.byteLength).toBe(0);
});

test("a part that is there again changes nothing; one whose predecessor is missing does not count", () => {
  const order = (indexes: readonly number[]): string[] => {
    const reader = new MessageReader("LOG0");
    const parts = partsOf("abcdefgh");
    return indexes.flatMap((index, i) => textsOf(reader.take(i + 1, parts[index] as Uint8Array).records));
  };
  expect(order([0, 0, 1, 0, 1, 1, 2])).toEqual(["7.0 abcdefgh"]);
  expect(order([0, 2, 1])).toEqual([]);
  expect(order([0, 2, 1, 2])).toEqual(["4.0 abcdefgh"]);
  expect(order([1, 2])).toEqual([]);
  expect(order([0, 1, 2, 1, 2])).toEqual(["3.0 abcdefgh"]);
});

test("parts of two attempts do not mix", () => {
  const reader = new MessageReader("LOG0");
  const [a, b] = [partsOf("abcdefgh"), partsOf("abcdefgh")];
  const order = [a[0], b[1], b[2], a[2], b[0], a[1], b[1], b[2]];
  expect(order.flatMap((part, i) => textsOf(reader.take(i + 1, part as Uint8Array).records))).toEqual(["8.0 abcdefgh"]);
});

test("parts that lie too far behind one another are no record, and are forgotten", () => {
  const last = (number: number, again?: number): string[] => {
    const reader = new MessageReader("LOG0");
    const [a, b] = partsOf("abcd") as [Uint8Array, Uint8Array];
    reader.take(10, a);
    if (again !== undefined) reader.take(again, a);
    return textsOf(reader.take(number, b).records);
  };
  expect(last(10 + PARTS_SPAN_MAX)).toEqual([`${10 + PARTS_SPAN_MAX}.0 abcd`]);
  expect(last(11 + PARTS_SPAN_MAX)).toEqual([]);
  expect(last(11 + PARTS_SPAN_MAX, 11)).toEqual([`${11 + PARTS_SPAN_MAX}.0 abcd`]);
  const reader = new MessageReader("LOG0");
  reader.take(10, partsOf("abcd")[0] as Uint8Array);
  reader.take(600, encodeRecords([[]]));
  expect([reader.oldestNeeded, reader.byteLength]).toEqual([undefined, 0]);
});

test.each(Array.from({ length: 50 }, (_, i) => i))("seed %i: who has its parts at rising numbers in reach has its record, once", (seed) => {
  const random = seededRandom(seed);
  const attempts = Array.from({ length: 6 }, (_, i) => partsOf(`${i}`.repeat(1 + random.below(12))));
  const reader = new MessageReader("LOG0");
  const at = attempts.map(() => 0);
  const whole: string[] = [];
  const seen: string[] = [];
  for (let number = 1; at.some((next, i) => next < (attempts[i]?.length ?? 0)); number++) {
    const who = random.below(attempts.length);
    const parts = attempts[who] as Uint8Array[];
    const next = at[who] as number;
    if (next === parts.length) continue;
    const again = random.below(3) === 0 ? random.below(parts.length) : next;
    seen.push(...textsOf(reader.take(number, parts[again] as Uint8Array).records).map((text) => text.split(" ")[1] as string));
    if (again !== next) continue;
    at[who] = next + 1;
    if (next + 1 === parts.length) whole.push(`${who}`);
  }
  for (const who of whole) expect(seen.filter((text) => text.startsWith(who))).not.toHaveLength(0);
  expect(new Set(seen).size).toBe(attempts.length);
});

/** What a message that cannot be read is: damaged, or the beginning of why it is refused. */
function notRecords(message: Uint8Array): string {
  const read = decodeMessage(message);
  return typeof read === "string" ? read.split(" ").slice(0, 4).join(" ") : read.kind;
}

test("what is no message is damaged, whatever bit of it is wrong; one of a version that may come is refused by its number", () => {
  for (const message of [encodeRecords([[bytesOf("abc")], [bytesOf("d")]]), partsOf("abcd")[0] as Uint8Array]) {
    for (let bit = 0; bit < message.length * 8; bit++) {
      const wrong = message.slice();
      wrong[bit >> 3] = (wrong[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(notRecords(wrong)).toBe(bit === 1 || bit === 2 ? "it is of version" : "damaged");
    }
    for (let length = 0; length < message.length; length++) expect(notRecords(message.subarray(0, length))).toBe("damaged");
  }
  const thrown = ((): unknown => {
    try {
      return new MessageReader("LOG4").take(9, bytesOf("\x02nonsense"));
    } catch (error) {
      return error;
    }
  })();
  expect([(thrown as Error).message, corruptionOf(thrown)?.file]).toEqual([
    "cannot read message 9 of LOG4: it is of version 2, only 1 is known",
    "LOG4, message 9",
  ]);
});

test("lengths are not believed, right as the checksum may be", () => {
  const changed = (message: Uint8Array, at: number, value: number, bytes: 2 | 4): string => {
    const view = new DataView(message.buffer);
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    const read = decodeMessage(signed(message));
    return typeof read === "string" ? read : read.kind;
  };
  const records = (): Uint8Array => encodeRecords([[bytesOf("abc")], [bytesOf("d")]]);
  const part = (): Uint8Array => partsOf("abcd")[0] as Uint8Array;
  expect(changed(records(), 2, 0, 2)).toBe("it has 0 records, 1 to 2048 may be");
  expect(changed(records(), 2, 2049, 2)).toBe("it has 2049 records, 1 to 2048 may be");
  expect(changed(records(), 2, 2048, 2)).toBe("it ends before the lengths of its 2048 records");
  expect(changed(records(), 4, 0xffff_ffff, 4)).toBe("its record 0 of 4294967295 bytes goes beyond its end");
  expect(changed(records(), 8, 0, 4)).toBe("it has 1 bytes behind its records");
  expect(changed(part(), 18, 2, 2)).toBe("it is part 2 of 2");
  expect(changed(part(), 20, 129, 2)).toBe("it is part 0 of 129");
  expect(changed(part(), 22, 2, 4)).toBe("it has 3 of 2 bytes");
  expect(changed(part(), 22, RECORD_BYTES_MAX + 1, 4)).toBe(`it has 3 of ${RECORD_BYTES_MAX + 1} bytes`);
  const other = records();
  other[1] = 4;
  expect(decodeMessage(signed(other))).toBe("it is of kind 4, which is not known");
  other[1] = 3;
  expect(decodeMessage(signed(other))).toBe("it has 20 bytes, a resumption has 31");
  const [first, second] = [part(), partsOf("abcd")[1] as Uint8Array];
  second.set(first.subarray(2, 18), 2);
  new DataView(second.buffer).setUint32(22, 5, true);
  const reader = new MessageReader("LOG0");
  reader.take(1, first);
  expect(() => reader.take(2, signed(second))).toThrow("cannot read message 2 of LOG0: part 1 is not of the record before");
});

test("messages of version 1 are read", () => {
  const read = (name: string): Uint8Array => readFileSync(join(import.meta.dir, "fixtures", name));
  const reader = new MessageReader("LOG0");
  expect(textsOf(reader.take(1, read("records-v1.bin")).records)).toEqual(["1.0 first", "1.1 second"]);
  expect(textsOf(reader.take(2, read("part-0-v1.bin")).records)).toEqual([]);
  expect(textsOf(reader.take(3, read("part-1-v1.bin")).records)).toEqual(["3.0 a record in two parts"]);
  expect(Buffer.from(encodeRecords([[bytesOf("first")], [bytesOf("sec"), bytesOf("ond")]]))).toEqual(Buffer.from(read("records-v1.bin")));
});

test("a resumption comes back; one of no writer is none", () => {
  const resumption = { writer: writerId(2 ** 52 + 7), number: 12, segment: 2 ** 40, asks: true };
  const message = encodeResumption(resumption);
  expect(new MessageReader("LOG0").take(3, message)).toEqual({ records: [], resumption: { kind: "resumes", ...resumption } as never });
  expect(decodeMessage(encodeResumption({ ...resumption, asks: false }))).toMatchObject({ asks: false });
  message.fill(0, 2, 10);
  expect(decodeMessage(signed(message))).toBe("it names no writer, number or segment");
  expect(new MessageReader("LOG0").take(1, bytesOf("nonsense")).damaged).toBe("its checksum is wrong");
});

test("sequences are those of the message's number and the place", () => {
  expect([sequenceOf(3, 0), sequenceOf(3, 2047), messageOf(sequenceOf(2 ** 40, 2047))]).toEqual([12_288, 14_335, 2 ** 40]);
});
