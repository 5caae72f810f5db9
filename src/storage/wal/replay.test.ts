import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorOf } from "../../../test/support/failure-of.ts";
import { corruptionOf, DbError } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import {
  completeRecordHeader,
  encodeRecordHeader,
  encodeSegmentHeader,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";
import { type DamageVerdict, judgeDamage, replaySegment } from "./replay.ts";
import type { WalRecovery } from "./wal.ts";

const ID = 3;
const STAMP = 0xcafe_f00d;
const folder = mkdtempSync(join(tmpdir(), "varve-replay-"));
const path = join(folder, "0000000003.log");
afterAll(() => rmSync(folder, { recursive: true }));

/** A record that says that so many bytes of its segment were durable when it was written. */
function recordOf(sequence: number, text: string, stamp = STAMP, durableBytes = 2 ** 20): Uint8Array {
  const payload = new TextEncoder().encode(text);
  const header = encodeRecordHeader({ sequence, payloadBytes: payload.length, payloadCrc: crc32(payload) });
  completeRecordHeader(header, stamp, durableBytes);
  return concat(header, payload);
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

const head = encodeSegmentHeader({ id: ID, stamp: STAMP, previous: { id: 2, bytes: 40, check: 1 } });
const a = recordOf(1, "first");
const b = recordOf(2, "VLR1 second, which holds the mark");
const c = recordOf(3, "third");

interface Want {
  readonly sequences: readonly number[];
  readonly torn?: number;
  readonly lost?: number;
}

async function replay(
  bytes: Uint8Array,
  isNewest: boolean,
  recovery: WalRecovery,
  durableBytes = 0,
): Promise<{ sequences: number[]; torn: number; lost: number }> {
  writeFileSync(path, bytes);
  const sequences: number[] = [];
  let lost = 0;
  const found = await replaySegment(
    { path, id: ID, isNewest, durableBytes, recovery },
    {
      onHead: () => undefined,
      onRecord: ({ sequence }) => void sequences.push(sequence),
      onLost: (lostBytes) => {
        lost += lostBytes;
      },
    },
  );
  expect(found.end.bytes).toBe(bytes.length - found.tornTailBytes);
  expect(found.lostBytes).toBe(lost);
  expect(readFileSync(path)).toEqual(Buffer.from(bytes.subarray(0, found.end.bytes)));
  return { sequences, torn: found.tornTailBytes, lost };
}

/** The newest segment, strict. */
async function check(bytes: Uint8Array, want: Want): Promise<void> {
  expect(await replay(bytes, true, "strict")).toEqual({ torn: 0, lost: 0, ...want, sequences: [...want.sequences] });
}

/** Strict refuses and names the offset; skip_corrupt loses `lost` bytes. */
async function checkDamage(bytes: Uint8Array, newest: boolean, offset: number, want: Want, durableBytes = 0): Promise<void> {
  const refused = replay(bytes, newest, "strict", durableBytes);
  expect(await errorOf(refused)).toBeInstanceOf(DbError);
  expect((await errorOf(refused)).message).toContain(`damaged bytes at offset ${offset}`);
  expect(corruptionOf(await errorOf(refused))).toEqual({ file: path, offset, kind: "checksum" });
  expect(readFileSync(path)).toEqual(Buffer.from(bytes)); // A refusal changes nothing.
  expect(await replay(bytes, newest, "skip_corrupt", durableBytes)).toEqual({ torn: 0, lost: 0, ...want, sequences: [...want.sequences] });
}

function flipped(bytes: Uint8Array, offset: number): Uint8Array {
  const copy = bytes.slice();
  copy[offset]! ^= 0x10;
  return copy;
}

test("the decision table in full", () => {
  const table: readonly (readonly [wasDurable: boolean, newest: boolean, recovery: WalRecovery, want: DamageVerdict])[] = [
    [false, true, "strict", "torn-tail"],
    [false, true, "skip_corrupt", "torn-tail"],
    [true, true, "strict", "refuse"],
    [true, true, "skip_corrupt", "skip"],
    [false, false, "strict", "refuse"],
    [false, false, "skip_corrupt", "skip"],
    [true, false, "strict", "refuse"],
    [true, false, "skip_corrupt", "skip"],
  ];
  for (const [wasDurable, newest, recovery, want] of table) expect(judgeDamage(wasDurable, newest, recovery)).toBe(want);
});

describe("a segment without damage", () => {
  test("gives its records", () => check(concat(head, a, b, c), { sequences: [1, 2, 3] }));
  test("may have none", () => check(head, { sequences: [] }));
  test("may be an empty file", () => check(new Uint8Array(0), { sequences: [] }));
  test("may be an empty file beneath newer ones", async () => {
    expect(await replay(new Uint8Array(0), false, "strict")).toEqual({ sequences: [], torn: 0, lost: 0 });
  });
});

describe("the end of the newest segment", () => {
  test("is cut off when the last record is torn, at every byte", async () => {
    const whole = concat(head, a, b, c);
    const start = head.length + a.length + b.length;
    for (let length = start + 1; length < whole.length; length++) {
      await check(whole.subarray(0, length), { sequences: [1, 2], torn: length - start });
    }
  });

  test("is cut off when any byte of the last record is wrong", async () => {
    const whole = concat(head, a, c);
    const start = head.length + a.length;
    for (let offset = start; offset < whole.length; offset++) {
      await check(flipped(whole, offset), { sequences: [1], torn: whole.length - start });
    }
  });

  test("is cut off when zeros follow", () => check(concat(head, a, new Uint8Array(4096)), { sequences: [1], torn: 4096 }));
  test("is cut off when a torn record and zeros follow", () => {
    return check(concat(head, a, b.subarray(0, 40), new Uint8Array(100)), { sequences: [1], torn: 140 });
  });
  test("is cut off when garbage follows", () => {
    const garbage = Uint8Array.from({ length: 500 }, (_, i) => (i % 9 === 0 ? 0x56 : (i * 7) & 255));
    return check(concat(head, a, b, garbage), { sequences: [1, 2], torn: 500 });
  });
  test("is cut off when records of another segment follow, as in a reused file", () => {
    return check(concat(head, a, recordOf(9, "stale", 2)), { sequences: [1], torn: RECORD_HEADER_BYTES + 5 });
  });
  test("is cut off at the first of several torn records", () => {
    return check(concat(head, a, flipped(b, 40), flipped(c, 33)), { sequences: [1], torn: b.length + c.length });
  });
  test("is the whole file when the header is short, at every byte", async () => {
    for (let length = 1; length < SEGMENT_HEADER_BYTES; length++) await check(head.subarray(0, length), { sequences: [], torn: length });
  });
  test("is the whole file when the header is wrong and no record follows", () =>
    check(flipped(head, 5), { sequences: [], torn: SEGMENT_HEADER_BYTES }));

  test("is cut once: the next start finds nothing to cut", async () => {
    await check(concat(head, a, b.subarray(0, 20)), { sequences: [1], torn: 20 });
    await check(readFileSync(path), { sequences: [1] });
  });
});

describe("a group of records that a power loss tore", () => {
  const first = SEGMENT_HEADER_BYTES;
  /** Records of one group: they say that what came before the group was durable. */
  const group = (start: number): readonly [Uint8Array, Uint8Array, Uint8Array] => [
    recordOf(2, "one", STAMP, start),
    recordOf(3, "two", STAMP, start),
    recordOf(4, "three", STAMP, start),
  ];

  test("is cut off from its first damaged record on, though later ones are intact", async () => {
    const [one, two, three] = group(first);
    for (const recovery of ["strict", "skip_corrupt"] as const) {
      const bytes = concat(head, one, flipped(two, 33), three);
      expect(await replay(bytes, true, recovery)).toEqual({ sequences: [2], torn: two.length + three.length, lost: 0 });
      const all = concat(head, flipped(one, 0), two, three);
      expect(await replay(all, true, recovery)).toEqual({ sequences: [], torn: all.length - first, lost: 0 });
    }
  });

  test("is cut off where groups follow that were written before it was durable", () => {
    const [one, two, three] = group(first + a.length);
    const bytes = concat(head, recordOf(1, "first", STAMP, first), one, new Uint8Array(two.length), three);
    return check(bytes, { sequences: [1, 2], torn: two.length + three.length });
  });

  test("is damage in the middle when a later record says that it was durable", async () => {
    const [one, two, three] = group(first);
    const end = first + one.length + two.length + three.length;
    const later = recordOf(5, "later", STAMP, end);
    const lost = { sequences: [2, 4, 5], lost: two.length };
    await checkDamage(concat(head, one, flipped(two, 33), three, later), true, first + one.length, lost);
  });

  test("is damage in the middle beneath a newer segment", async () => {
    const [one, two, three] = group(first);
    await checkDamage(concat(head, one, flipped(two, 33), three), false, first + one.length, { sequences: [2, 4], lost: two.length });
  });
});

describe("what is known to have been on disk", () => {
  const middle = SEGMENT_HEADER_BYTES + a.length;
  const whole = concat(head, a, b);

  test("is damage and no torn tail when any byte of it is wrong", async () => {
    for (let offset = middle; offset < whole.length; offset++) {
      await checkDamage(flipped(whole, offset), true, middle, { sequences: [1], lost: b.length }, whole.length);
    }
  });

  test("is damage up to its end, and behind it is a torn tail", async () => {
    const torn = concat(whole, c.subarray(0, 10));
    expect(await replay(torn, true, "strict", whole.length)).toEqual({ sequences: [1, 2], torn: 10, lost: 0 });
    expect(await replay(concat(head, a, flipped(b, 40)), true, "strict", middle)).toEqual({ sequences: [1], torn: b.length, lost: 0 });
  });

  test("is missed when it was cut off, at every byte", async () => {
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      writeFileSync(path, cut);
      const refused = await errorOf(replay(cut, true, "strict", whole.length));
      expect(refused).toBeInstanceOf(DbError);
      expect(refused.message).toMatch(/damaged bytes at offset|it ends at offset/);
      expect(readFileSync(path)).toEqual(Buffer.from(cut));
      const lost: number[] = [];
      const found = await replaySegment(
        { path, id: ID, isNewest: true, durableBytes: whole.length, recovery: "skip_corrupt" },
        { onHead: () => undefined, onRecord: () => undefined, onLost: (lostBytes) => void lost.push(lostBytes) },
      );
      expect({ length, lost: found.lostBytes }).toEqual({ length, lost: lost.reduce((sum, each) => sum + each, 0) });
      expect(found.lostBytes).toBeGreaterThan(0);
    }
  });
});

describe("a segment of version 1", () => {
  const old = head.slice(0, 16);
  new DataView(old.buffer).setUint32(4, 1, true);
  new DataView(old.buffer).setUint32(12, crc32(old.subarray(0, 12)), true);
  const oldRecord = (sequence: number, text: string): Uint8Array => {
    const record = recordOf(sequence, text, ID);
    new DataView(record.buffer).setUint32(24, 0, true);
    new DataView(record.buffer).setUint32(28, crc32(record.subarray(0, 28)), true);
    return record;
  };

  test("gives its records, and loses a torn tail", async () => {
    const records = [oldRecord(1, "a"), oldRecord(2, "b")];
    await check(concat(old, ...records), { sequences: [1, 2] });
    await check(concat(old, ...records, new Uint8Array(9)), { sequences: [1, 2], torn: 9 });
  });

  test("takes every damaged record before an intact one for damage in the middle", async () => {
    const damaged = flipped(oldRecord(1, "a"), 32);
    await checkDamage(concat(old, damaged, oldRecord(2, "b")), true, 16, { sequences: [2], lost: damaged.length });
  });
});

describe("a block of an old file", () => {
  test("with records of a segment of the same id is a torn tail", () => {
    const stale = [recordOf(7, "stale", STAMP + 1), recordOf(8, "stale too", STAMP + 1)];
    return check(concat(head, a, ...stale), { sequences: [1], torn: stale[0]!.length + stale[1]!.length });
  });
});

describe("damage in the middle", () => {
  const middle = SEGMENT_HEADER_BYTES + a.length;

  test("of a payload is refused or skipped", async () => {
    const damaged = concat(head, a, flipped(b, RECORD_HEADER_BYTES + 3), c);
    await checkDamage(damaged, true, middle, { sequences: [1, 3], lost: b.length });
    await checkDamage(damaged, false, middle, { sequences: [1, 3], lost: b.length });
  });

  test("of any byte of a header is refused or skipped", async () => {
    for (let offset = 0; offset < RECORD_HEADER_BYTES; offset++) {
      await checkDamage(concat(head, a, flipped(b, offset), c), true, middle, { sequences: [1, 3], lost: b.length });
    }
  });

  test("of two records in a row is reported as one loss", () => {
    return checkDamage(concat(head, flipped(a, 0), flipped(b, 0), c), true, SEGMENT_HEADER_BYTES, {
      sequences: [3],
      lost: a.length + b.length,
    });
  });

  test("of two records apart is added up", () => {
    const d = recordOf(4, "fourth");
    return checkDamage(concat(head, flipped(a, 0), b, flipped(c, 0), d), true, SEGMENT_HEADER_BYTES, {
      sequences: [2, 4],
      lost: a.length + c.length,
    });
  });

  test("that removed bytes is skipped", () => {
    return checkDamage(concat(head, a, b.subarray(10), c), true, middle, { sequences: [1, 3], lost: b.length - 10 });
  });

  test("before a torn tail is skipped, and the tail cut", async () => {
    const bytes = concat(head, flipped(a, 0), b, c.subarray(0, 10));
    expect((await errorOf(replay(bytes, true, "strict"))).message).toContain(`damaged bytes at offset ${SEGMENT_HEADER_BYTES}`);
    expect(await replay(bytes, true, "skip_corrupt")).toEqual({ sequences: [2], lost: a.length, torn: 10 });
  });

  test("is what a torn tail is beneath a newer segment", async () => {
    await checkDamage(concat(head, a, b.subarray(0, 20)), false, middle, { sequences: [1], lost: 20 });
    await checkDamage(concat(head, a, new Uint8Array(64)), false, middle, { sequences: [1], lost: 64 });
    await checkDamage(head.subarray(0, 7), false, 0, { sequences: [], lost: 7 });
  });

  test("of the segment header is refused or skipped while records follow", () => {
    return checkDamage(concat(flipped(head, 9), a, b), true, 0, { sequences: [1, 2], lost: SEGMENT_HEADER_BYTES });
  });
});

test("a segment of another version is refused by name and left alone", async () => {
  const other = head.slice();
  new DataView(other.buffer).setUint32(4, 4, true);
  new DataView(other.buffer).setUint32(12, crc32(other.subarray(0, 12)), true);
  for (const recovery of ["strict", "skip_corrupt"] as const) {
    const refused = replay(concat(other, a), true, recovery);
    expect(await errorOf(refused)).toBeInstanceOf(DbError);
    expect((await errorOf(refused)).message).toContain(`cannot read log segment ${path}: it has format version 4`);
    expect(readFileSync(path).length).toBe(head.length + a.length);
  }
});

test("a segment that cannot be read is named", async () => {
  const missing = replaySegment(
    { path: join(folder, "0000000004.log"), id: 4, isNewest: true, durableBytes: 0, recovery: "skip_corrupt" },
    { onHead: () => undefined, onRecord: () => undefined, onLost: () => undefined },
  );
  expect(await errorOf(missing)).toBeInstanceOf(DbError);
  expect((await errorOf(missing)).message).toContain("cannot read log segment");
});
