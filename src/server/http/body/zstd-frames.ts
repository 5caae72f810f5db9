/**
 * Whether bytes are whole zstd frames. The decoder takes a body that was cut short for a finished one, which would lose rows silently;
 * so the block headers are walked first (they say where each block ends). Source: RFC 8878, 3.1.1.
 */

const MAGIC = 0xfd2fb528;
const SKIPPABLE_FIRST = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** True when `bytes` is one or more whole frames and nothing else. What the blocks hold is not looked at. */
export function isWholeZstd(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const end = frameEnd(view, at);
    if (end < 0 || end > bytes.length) return false;
    at = end;
  }
  return bytes.length > 0;
}

/** Bytes that the first frame says it unfolds to; undefined when it does not say so, or is none. */
export function zstdContentSize(bytes: Uint8Array): number | undefined {
  if (bytes.length < 18) return undefined; // Room for the longest frame header.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return undefined;
  const descriptor = view.getUint8(4);
  const singleSegment = (descriptor >> 5) & 1;
  const at = 5 + (1 - singleSegment) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0);
  switch (descriptor >> 6) {
    case 0:
      return singleSegment === 1 ? view.getUint8(at) : undefined;
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

/** Position after the frame at `start`, or -1. */
function frameEnd(view: DataView, start: number): number {
  if (start + 8 > view.byteLength) return -1;
  const magic = view.getUint32(start, true);
  if ((magic & 0xffff_fff0) >>> 0 === SKIPPABLE_FIRST) return start + 8 + view.getUint32(start + 4, true);
  if (magic !== MAGIC) return -1;
  const descriptor = view.getUint8(start + 4);
  const singleSegment = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? singleSegment : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  let at = start + 5 + (1 - singleSegment) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0) + sizeBytes;
  for (;;) {
    if (at + 3 > view.byteLength) return -1;
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const kind = (header >> 1) & 3;
    if (kind === 3) return -1; // reserved
    at += 3 + (kind === 1 ? 1 : header >> 3); // 1 = one byte, repeated
    if ((header & 1) === 1) break;
  }
  return at + ((descriptor >> 2) & 1) * 4; // checksum
}
