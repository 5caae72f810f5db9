/** What histograms take in memory, nearly. */
import type { NativeHistogram } from "../series-source.ts";

/** Bytes of a histogram without buckets: its object, its lists of spans. */
const OBJECT_BYTES = 160;
/** Bytes of a span beside its counts: an object and a typed array. */
const SPAN_BYTES = 120;

/** Bytes of one, its bounds with it, although others may share them. */
export function bytesOfHistogram({ positiveSpans, negativeSpans, customValues }: Omit<NativeHistogram, "resetHint">): number {
  let bytes = OBJECT_BYTES + (customValues?.byteLength ?? 0);
  for (const { counts } of positiveSpans) bytes += SPAN_BYTES + counts.length * 8;
  for (const { counts } of negativeSpans) bytes += SPAN_BYTES + counts.length * 8;
  return bytes;
}

/** Bytes of a list of them. One that neighbours share, as steps of one sample do, is counted once. */
export function bytesOfHistograms(histograms: readonly (NativeHistogram | undefined)[] | undefined): number {
  if (histograms === undefined) return 0;
  let bytes = histograms.length * 8;
  let last: NativeHistogram | undefined;
  for (const one of histograms) {
    if (one !== undefined && one !== last) bytes += bytesOfHistogram(one);
    last = one;
  }
  return bytes;
}
