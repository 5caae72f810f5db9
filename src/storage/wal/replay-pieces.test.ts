/**
 * A segment read by pieces says what one says that is looked at as a whole: random segments, damage and sizes of pieces, down to a byte,
 * beside a model that has all bytes at hand.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { systemLogDisk } from "./log-disk.ts";
import {
  checkOfHeader,
  checkSegmentHeader,
  completeRecordHeader,
  decodeRecordHeader,
  encodeRecordHeader,
  encodeSegmentHeader,
  type RecordHeader,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";
import { judgeDamage, replaySegment, type SegmentSource } from "./replay.ts";
import { SegmentBytes } from "./segment-bytes.ts";

const ID = 3;
const STAMP = 0xcafe_f00d;
const SEGMENTS = 1500;
const folder = mkdtempSync(join(tmpdir(), "varve-pieces-"));
const path = join(folder, "0000000003.log");
afterAll(() => rmSync(folder, { recursive: true }));

type Case = Pick<SegmentSource, "isNewest" | "durableBytes" | "recovery">;

/** What a reading says, in order, and what it leaves. */
interface Told {
  readonly events: string[];
  readonly end: string;
  readonly left: string;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function recordOf(sequence: number, payload: Uint8Array, durableBytes: number, stamp: number): Uint8Array {
  const header = encodeRecordHeader({ sequence, payloadBytes: payload.length, payloadCrc: crc32(payload) });
  completeRecordHeader(header, stamp, durableBytes);
  return Buffer.concat([header, payload]);
}

/** Records in groups, some holding the mark or a whole record; then some damage. */
function randomSegment(random: Random): Uint8Array {
  const parts: Uint8Array[] = [encodeSegmentHeader({ id: ID, stamp: STAMP, previous: { id: 2, bytes: 40, check: 1 } })];
  let at = SEGMENT_HEADER_BYTES;
  let durable = 0;
  for (let sequence = 1, count = random.below(9); sequence <= count; sequence++) {
    if (random.below(3) === 0) durable = random.below(6) === 0 ? random.below(at) : at;
    let payload: Uint8Array = Uint8Array.from({ length: random.below(random.below(4) === 0 ? 300 : 40) }, () => random.below(256));
    if (random.below(5) === 0) payload = Buffer.concat([payload, Buffer.from("VLR1VLR"), payload]);
    if (random.below(8) === 0) payload = Buffer.concat([payload, recordOf(90 + sequence, payload, durable, STAMP)]);
    const record = recordOf(sequence, payload, durable, random.below(12) === 0 ? STAMP + 1 : STAMP);
    parts.push(record);
    at += record.length;
  }
  let bytes = new Uint8Array(Buffer.concat(parts));
  for (let left = random.below(4); left > 0 && bytes.length > 0; left--) {
    const place = random.below(bytes.length);
    const kind = random.below(5);
    if (kind === 0) bytes = bytes.slice(0, place);
    else if (kind === 1) bytes[place]! ^= 1 << random.below(8);
    else if (kind === 2) bytes.fill(0, place, place + random.below(60));
    else if (kind === 3) bytes = new Uint8Array(Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + random.below(50))]));
    else bytes = new Uint8Array(Buffer.concat([bytes, Uint8Array.from({ length: random.below(90) }, () => random.below(256))]));
  }
  return bytes;
}

/** The records of `bytes` from `from` on that are intact. */
function* intactFrom(
  bytes: Uint8Array,
  from: number,
  stamp: number | undefined,
): Iterable<RecordHeader & { readonly at: number; readonly end: number }> {
  for (let at = from; at < bytes.length; ) {
    const header = decodeRecordHeader(bytes, at, stamp);
    const end = at + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
    const isIntact =
      header !== undefined && end <= bytes.length && crc32(bytes.subarray(at + RECORD_HEADER_BYTES, end)) === header.payloadCrc;
    if (isIntact) yield { ...header, at, end };
    at = isIntact ? end : at + 1;
  }
}

/** What is to be said, found out with all bytes at hand. */
function model(bytes: Uint8Array, { isNewest, durableBytes, recovery }: Case): Told {
  const head = checkSegmentHeader(bytes, ID);
  const isGood = head.kind === "ok";
  const stamp = isGood ? head.stamp : undefined;
  const events = [`head ${isGood ? head.previous?.id : undefined}`];
  let at = isGood ? head.headerBytes : 0;
  let check = isGood ? head.check : 0;
  let lost = 0;
  let doubtfulFrom = 0;
  const done = (torn: number): Told => {
    const from = isNewest ? Math.min(doubtfulFrom, at) : at;
    const end = `${at} ${check} torn ${torn} lost ${lost} doubtful ${from} ${hex(bytes.subarray(from, at))}`;
    return { events, end, left: hex(bytes.subarray(0, torn > 0 ? at : bytes.length)) };
  };
  const refused = (end: string): Told => ({ events, end, left: hex(bytes) });
  while (at < bytes.length) {
    const later = [...intactFrom(bytes, at, stamp)];
    const [next] = later;
    if (next?.at === at) {
      events.push(`record ${next.sequence} ${hex(bytes.subarray(at + RECORD_HEADER_BYTES, next.end))}`);
      doubtfulFrom = next.durableBytes ?? 0;
      ({ check, end: at } = next);
      continue;
    }
    const wasDurable = at < durableBytes || later.some((record) => record.durableBytes === undefined || record.durableBytes > at);
    const verdict = judgeDamage(wasDurable, isNewest, recovery);
    if (verdict === "refuse") return refused(`damaged bytes at offset ${at}`);
    if (verdict === "torn-tail") return done(bytes.length - at);
    const end = next?.at ?? bytes.length;
    const payloads: string[] = [];
    for (let place = at; place < end; ) {
      const header = decodeRecordHeader(bytes.subarray(0, end), place, stamp);
      const over = place + RECORD_HEADER_BYTES + (header?.payloadBytes ?? 0);
      const isWhole = header !== undefined && over <= end;
      payloads.push(isWhole ? hex(bytes.subarray(place + RECORD_HEADER_BYTES, over)) : "?");
      place = isWhole ? over : end;
    }
    events.push(`lost ${end - at} ${payloads.join()}`);
    lost += end - at;
    at = end;
  }
  if (at < durableBytes) {
    if (recovery === "strict") return refused(`it ends at offset ${at}, and ${durableBytes} bytes`);
    events.push(`lost ${durableBytes - at} ?`);
    lost += durableBytes - at;
  }
  return done(0);
}

/** What reading by pieces says. */
async function byPieces(bytes: Uint8Array, given: Case, pieceBytes: number): Promise<Told> {
  writeFileSync(path, bytes);
  const events: string[] = [];
  let end: string;
  try {
    const found = await replaySegment(
      { ...given, path, id: ID, pieceBytes },
      {
        onHead: (previous) => void events.push(`head ${previous?.id}`),
        onRecord: ({ sequence, payload }) => void events.push(`record ${sequence} ${hex(payload)}`),
        onLost: async (lost, payloads) => {
          const told: string[] = [];
          for await (const payload of payloads) told.push(payload === undefined ? "?" : hex(payload));
          events.push(`lost ${lost} ${told.join()}`);
        },
      },
    );
    const doubtful = `doubtful ${found.doubtfulFrom} ${hex(found.doubtful)}`;
    end = `${found.end.bytes} ${found.end.check} torn ${found.tornTailBytes} lost ${found.lostBytes} ${doubtful}`;
  } catch (error) {
    end = /damaged bytes at offset \d+|it ends at offset \d+, and \d+ bytes/.exec(String(error))?.[0] ?? String(error);
  }
  return { events, end, left: hex(readFileSync(path)) };
}

test("a segment read by pieces says what its bytes say as a whole", async () => {
  for (let seed = 1; seed <= SEGMENTS; seed++) {
    const random = seededRandom(seed);
    const bytes = randomSegment(random);
    const isNewest = random.below(3) > 0;
    const durableBytes = isNewest && random.below(3) === 0 ? random.below(bytes.length + 20) : 0;
    const given: Case = { isNewest, durableBytes, recovery: random.below(3) === 0 ? "strict" : "skip_corrupt" };
    const pieceBytes = [1, 2 + random.below(8), 1 + random.below(100), 1 + random.below(2 * bytes.length + 1)][random.below(4)]!;
    expect({ seed, pieceBytes, ...(await byPieces(bytes, given, pieceBytes)) }).toEqual({ seed, pieceBytes, ...model(bytes, given) });
  }
});

test("the window has room for the largest record and a piece, whatever the segment's length is", async () => {
  const PIECE = 1000;
  const sizes = Array.from({ length: 400 }, (_, i) => (i === 200 ? 7000 : 300 + ((i * 37) % 500)));
  writeFileSync(path, new Uint8Array(sizes.reduce((sum, size) => sum + size, 0)));
  const bytes = await SegmentBytes.open(systemLogDisk, path, PIECE);
  let at = 0;
  let largest = 0;
  for (const size of sizes) {
    if (!bytes.holds(at, at + size)) await bytes.load(at, at + size);
    expect(bytes.view(at, at + size)).toHaveLength(size);
    largest = Math.max(largest, bytes.window.length);
    at += size;
  }
  expect(at).toBe(bytes.length);
  expect(largest).toBeLessThanOrEqual(7000 + PIECE);
});

test("bytes that are kept are moved a few times, not once a piece", async () => {
  const PIECE = 100;
  writeFileSync(path, new Uint8Array(100 * PIECE));
  const bytes = await SegmentBytes.open(systemLogDisk, path, PIECE);
  let loads = 0;
  for (let at = 0; at < bytes.length; at += 10) {
    if (bytes.holds(at, at + 10)) continue;
    await bytes.load(at, at + 10, 0);
    loads++;
  }
  expect(loads).toBeLessThan(12);
  expect(bytes.window).toHaveLength(bytes.length);
});

test("a length that the file does not have is not believed, and no room made for it", async () => {
  const head = encodeSegmentHeader({ id: ID, stamp: STAMP, previous: { id: 0, bytes: 0, check: 0 } });
  const header = encodeRecordHeader({ sequence: 1, payloadBytes: 2 ** 30, payloadCrc: 1 });
  completeRecordHeader(header, STAMP, 0);
  const asked: number[] = [];
  const disk = {
    ...systemLogDisk,
    read: async (file: string, into: Uint8Array, position: number): Promise<number> => {
      asked.push(into.length);
      return await systemLogDisk.read(file, into, position);
    },
  };
  writeFileSync(path, Buffer.concat([head, header, new Uint8Array(100)]));
  const found = await replaySegment(
    { path, id: ID, isNewest: true, durableBytes: 0, recovery: "strict", disk },
    { onHead: () => undefined, onRecord: () => undefined, onLost: () => undefined },
  );
  expect(found).toMatchObject({ tornTailBytes: header.length + 100, end: { bytes: head.length, check: checkOfHeader(head) } });
  expect(Math.max(...asked)).toBeLessThanOrEqual(head.length + header.length + 100);
});

test("a file that becomes shorter while it is read is named", async () => {
  writeFileSync(path, new Uint8Array(100));
  const disk = {
    ...systemLogDisk,
    size: async (file: string): Promise<number> => {
      const bytes = await systemLogDisk.size(file);
      truncateSync(file, 50);
      return bytes;
    },
  };
  const reading = replaySegment(
    { path, id: ID, isNewest: true, durableBytes: 0, recovery: "strict", disk },
    { onHead: () => undefined, onRecord: () => undefined, onLost: () => undefined },
  );
  expect((await errorOf(reading)).message).toBe(`cannot read log segment ${path}: it ends at offset 50, and had 100 bytes before`);
});

test("a disk that gives a few bytes at a time is asked again", async () => {
  const disk = {
    ...systemLogDisk,
    read: (file: string, into: Uint8Array, at: number) => systemLogDisk.read(file, into.subarray(0, 3), at),
  };
  const head = encodeSegmentHeader({ id: ID, stamp: STAMP, previous: { id: 0, bytes: 0, check: 0 } });
  writeFileSync(path, Buffer.concat([head, recordOf(1, Buffer.from("first"), 0, STAMP)]));
  const seen: string[] = [];
  await replaySegment(
    { path, id: ID, isNewest: true, durableBytes: 0, recovery: "strict", disk },
    { onHead: () => undefined, onRecord: ({ payload }) => void seen.push(Buffer.from(payload).toString()), onLost: () => undefined },
  );
  expect(seen).toEqual(["first"]);
});
