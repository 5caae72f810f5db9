import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { crc32 } from "../../base/bytes/hash.ts";
import {
  checkOfHeader,
  checkSegmentHeader,
  completeRecordHeader,
  decodeRecordHeader,
  encodeRecordHeader,
  encodeSegmentHeader,
  RECORD_HEADER_BYTES,
  RECORD_PAYLOAD_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";

const STAMP = 7;
const header = { payloadBytes: 1234, payloadCrc: 0xdead_beef, sequence: 2 ** 40 + 5 };

/** A whole header. */
function encoded(record: Parameters<typeof encodeRecordHeader>[0], stamp = STAMP, durableBytes = 16): Uint8Array {
  const bytes = encodeRecordHeader(record);
  completeRecordHeader(bytes, stamp, durableBytes);
  return bytes;
}

/** The checksum in an encoded record header. */
function checkOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(28, true);
}

describe("a record header", () => {
  test("comes back as it was written", () => {
    const whole = fc.record({
      payloadBytes: fc.integer({ min: 0, max: RECORD_PAYLOAD_BYTES_MAX }),
      payloadCrc: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    });
    fc.assert(
      fc.property(whole, fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 2), fc.nat(40), (record, stamp, durableBytes, offset) => {
        const bytes = new Uint8Array(offset + RECORD_HEADER_BYTES);
        bytes.set(encoded(record, stamp, durableBytes), offset);
        expect(decodeRecordHeader(bytes, offset, stamp)).toEqual({
          ...record,
          stamp,
          durableBytes,
          check: checkOf(bytes.subarray(offset)),
        });
        expect(decodeRecordHeader(bytes, offset, undefined)).toEqual({
          ...record,
          stamp,
          durableBytes,
          check: checkOf(bytes.subarray(offset)),
        });
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("claims less than is durable beyond four gibibytes", () => {
    expect(decodeRecordHeader(encoded(header, STAMP, 2 ** 33), 0, STAMP)?.durableBytes).toBe(2 ** 32 - 2);
  });

  test("of version 1 says nothing of what is durable", () => {
    const bytes = encoded(header);
    new DataView(bytes.buffer).setUint32(24, 0, true);
    new DataView(bytes.buffer).setUint32(28, crc32(bytes.subarray(0, 28)), true);
    expect(decodeRecordHeader(bytes, 0, STAMP)).toEqual({ ...header, stamp: STAMP, durableBytes: undefined, check: checkOf(bytes) });
  });

  test("is refused with any bit flipped", () => {
    const bytes = encoded(header);
    for (let bit = 0; bit < RECORD_HEADER_BYTES * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeRecordHeader(bytes, 0, 7)).toBeUndefined();
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test("is refused when it is cut, or of another segment", () => {
    const bytes = encoded(header);
    for (let length = 0; length < RECORD_HEADER_BYTES; length++)
      expect(decodeRecordHeader(bytes.subarray(0, length), 0, 7)).toBeUndefined();
    expect(decodeRecordHeader(bytes, 0, 8)).toBeUndefined();
    expect(decodeRecordHeader(bytes, 1, 7)).toBeUndefined();
  });

  test("is refused with a length or sequence beyond the limits, though its checksum is right", () => {
    expect(decodeRecordHeader(encoded({ ...header, payloadBytes: RECORD_PAYLOAD_BYTES_MAX + 1 }), 0, 7)).toBeUndefined();
    expect(decodeRecordHeader(encoded({ ...header, sequence: 2 ** 53 }), 0, 7)).toBeUndefined();
  });
});

describe("a segment header", () => {
  const previous = { id: 11, bytes: 2 ** 40 + 3, check: 0xfeed_beef };
  const bytes = encodeSegmentHeader({ id: 12, stamp: 99, previous });
  const check = (head: Uint8Array, segment: number, want: ReturnType<typeof checkSegmentHeader>): void => {
    expect(checkSegmentHeader(head, segment)).toEqual(want);
  };
  /** The header as an older version wrote it. */
  const older = (version: number, length: number): Uint8Array => {
    const old = bytes.slice(0, length);
    const view = new DataView(old.buffer);
    view.setUint32(4, version, true);
    view.setUint32(12, crc32(old.subarray(0, 12)), true);
    view.setUint32(length - 4, crc32(old.subarray(0, length - 4)), true);
    return old;
  };

  test("is ok for its own segment alone, gives its stamp, and names the segment before it", () => {
    check(bytes, 12, { kind: "ok", headerBytes: SEGMENT_HEADER_BYTES, stamp: 99, check: checkOfHeader(bytes), previous });
    check(bytes, 13, { kind: "bad" });
    for (let length = 0; length < SEGMENT_HEADER_BYTES; length++) check(bytes.subarray(0, length), 12, { kind: "short" });
  });

  test("of version 1 is ok: its stamp is its id, and it names none", () => {
    const old = older(1, 16);
    check(old, 12, { kind: "ok", headerBytes: 16, stamp: 12, check: checkOfHeader(old), previous: undefined });
    check(old, 13, { kind: "bad" });
    check(old.subarray(0, 15), 12, { kind: "short" });
  });

  test("of version 2 is ok, and names none", () => {
    const old = older(2, 24);
    check(old, 12, { kind: "ok", headerBytes: 24, stamp: 99, check: checkOfHeader(old), previous: undefined });
    check(old.subarray(0, 23), 12, { kind: "short" });
  });

  test("is bad with any bit flipped", () => {
    const copy = bytes.slice();
    for (let bit = 0; bit < SEGMENT_HEADER_BYTES * 8; bit++) {
      copy[bit >> 3]! ^= 1 << (bit & 7);
      check(copy, 12, { kind: "bad" });
      copy[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test("names another version", () => {
    const newer = bytes.slice();
    new DataView(newer.buffer).setUint32(4, 4, true);
    new DataView(newer.buffer).setUint32(12, crc32(newer.subarray(0, 12)), true);
    check(newer, 12, { kind: "unknown", version: 4 });
  });
});

test("a checksum continued over parts is that of the whole", () => {
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf4_3926);
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 31) & 255);
  for (let cut = 0; cut <= bytes.length; cut += 13) {
    expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(crc32(bytes));
  }
  const shared = new Uint8Array(new SharedArrayBuffer(1000));
  shared.set(bytes);
  expect(crc32(shared)).toBe(crc32(bytes));
});
