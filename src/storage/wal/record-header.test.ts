import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { crc32 } from "../../base/hash.ts";
import {
  checkSegmentHeader,
  decodeRecordHeader,
  encodeRecordHeader,
  encodeSegmentHeader,
  noteDurableBytes,
  RECORD_HEADER_BYTES,
  RECORD_PAYLOAD_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";

const header = { segment: 7, payloadBytes: 1234, payloadCrc: 0xdead_beef, sequence: 2 ** 40 + 5 };

describe("a record header", () => {
  test("comes back as it was written", () => {
    const whole = fc.record({
      segment: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
      payloadBytes: fc.integer({ min: 0, max: RECORD_PAYLOAD_BYTES_MAX }),
      payloadCrc: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    });
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 40 }), (record, offset) => {
        const bytes = new Uint8Array(offset + RECORD_HEADER_BYTES);
        bytes.set(encodeRecordHeader(record), offset);
        expect(decodeRecordHeader(bytes, offset, record.segment)).toEqual({ ...record, durableBytes: undefined });
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("says what was durable, once that is noted", () => {
    const bytes = encodeRecordHeader(header);
    for (const durableBytes of [0, 1, 16, 2 ** 31, 2 ** 32 - 2]) {
      noteDurableBytes(bytes, durableBytes);
      expect(decodeRecordHeader(bytes, 0, 7)).toEqual({ ...header, durableBytes });
    }
    noteDurableBytes(bytes, 2 ** 33);
    expect(decodeRecordHeader(bytes, 0, 7)?.durableBytes).toBe(2 ** 32 - 2);
  });

  test("is refused with any bit flipped", () => {
    const bytes = encodeRecordHeader(header);
    for (let bit = 0; bit < RECORD_HEADER_BYTES * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeRecordHeader(bytes, 0, 7)).toBeUndefined();
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test("is refused when it is cut, or of another segment", () => {
    const bytes = encodeRecordHeader(header);
    for (let length = 0; length < RECORD_HEADER_BYTES; length++)
      expect(decodeRecordHeader(bytes.subarray(0, length), 0, 7)).toBeUndefined();
    expect(decodeRecordHeader(bytes, 0, 8)).toBeUndefined();
    expect(decodeRecordHeader(bytes, 1, 7)).toBeUndefined();
  });

  test("is refused with a length or sequence beyond the limits, though its checksum is right", () => {
    expect(decodeRecordHeader(encodeRecordHeader({ ...header, payloadBytes: RECORD_PAYLOAD_BYTES_MAX + 1 }), 0, 7)).toBeUndefined();
    expect(decodeRecordHeader(encodeRecordHeader({ ...header, sequence: 2 ** 53 }), 0, 7)).toBeUndefined();
  });
});

describe("a segment header", () => {
  test("is ok for its own segment alone", () => {
    const bytes = encodeSegmentHeader(12);
    expect(checkSegmentHeader(bytes, 12)).toBe("ok");
    expect(checkSegmentHeader(bytes, 13)).toBe("bad");
    for (let length = 0; length < SEGMENT_HEADER_BYTES; length++) expect(checkSegmentHeader(bytes.subarray(0, length), 12)).toBe("short");
  });

  test("is bad with any bit flipped", () => {
    const bytes = encodeSegmentHeader(12);
    for (let bit = 0; bit < SEGMENT_HEADER_BYTES * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(checkSegmentHeader(bytes, 12)).toBe("bad");
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test("names another version", () => {
    const bytes = encodeSegmentHeader(12);
    const view = new DataView(bytes.buffer);
    view.setUint32(4, 2, true);
    view.setUint32(12, crc32(bytes.subarray(0, 12)), true);
    expect(checkSegmentHeader(bytes, 12)).toEqual({ version: 2 });
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
