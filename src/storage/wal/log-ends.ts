/**
 * What a log says of its own two ends, apart from its segments: which may be gone, which must be there, and how far the newest is known to
 * be on disk. Each segment names the one before it; nothing else names the newest, or says that the oldest was trimmed. See FORMAT.md.
 */
import { crc32 } from "../../base/bytes/hash.ts";
import { NO_SEGMENT, readSegmentEnd, type SegmentEnd, writeSegmentEnd } from "./record-header.ts";

/** The two ends of a log. */
export interface LogEnds {
  /** Nobody needs the segments below this id: they may be there or not. */
  readonly oldest: number;
  /** The newest segment that was begun; 0 when none was. */
  readonly newest: number;
  /** What of the newest segment is sure to be on disk, as of its last pause: nothing up to there is a torn tail. */
  readonly end: SegmentEnd;
}

/** The ends of a log without segments. */
export const NO_ENDS: LogEnds = { oldest: 1, newest: 0, end: NO_SEGMENT };

/** A statement as it stands in the file: later ones have higher numbers. */
export interface EndsStatement extends LogEnds {
  readonly number: number;
}

/** Bytes of a statement. */
export const STATEMENT_BYTES = 40;
/** From one place for a statement to the next: what a disk may lose at once holds one of them. */
export const STATEMENT_STRIDE = 4096;
/** Places for statements. The last one that is durable, one that may be, and one to write to. */
export const STATEMENT_PLACES = 3;

const MAGIC = 0x31454c56; // "VLE1"
const VERSION = 1;

/** Encodes a statement. */
export function encodeStatement({ number, oldest, newest, end }: EndsStatement): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(STATEMENT_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, number, true);
  view.setUint32(12, oldest, true);
  view.setUint32(16, newest, true);
  writeSegmentEnd(view, 20, end);
  view.setUint32(36, crc32(bytes.subarray(0, 36)), true);
  return bytes;
}

/** What a place for a statement holds. */
export type StatementResult =
  | { readonly kind: "ok"; readonly statement: EndsStatement }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly version: number };

/** The statement at `offset`; none where it is damaged, cut or was never written. */
export function decodeStatement(bytes: Uint8Array, offset: number): StatementResult {
  if (offset + STATEMENT_BYTES > bytes.length) return { kind: "none" };
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, STATEMENT_BYTES);
  if (view.getUint32(0, true) !== MAGIC) return { kind: "none" };
  if (view.getUint32(36, true) !== crc32(bytes.subarray(offset, offset + 36))) return { kind: "none" };
  const version = view.getUint32(4, true);
  if (version !== VERSION) return { kind: "unknown", version };
  const end = readSegmentEnd(view, 20);
  if (end === undefined) return { kind: "none" };
  return {
    kind: "ok",
    statement: {
      number: view.getUint32(8, true),
      oldest: view.getUint32(12, true),
      newest: view.getUint32(16, true),
      end,
    },
  };
}
