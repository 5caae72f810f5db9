/**
 * How old segments of writers are that say nothing any more, for the manifest: an owner that takes the shard over counts on from there.
 * Else a shard whose owners change every minute would never close a segment of a writer that died, and never trim its log.
 *
 * Ages are of the monotonic clocks of processes, and nothing counts between two of them: a segment is as old as that at least.
 */
import type { WriterId } from "../../base/units.ts";
import type { AgedSegment } from "./log-start.ts";
import type { WriterSegments } from "./writer-segments.ts";

/** How long after it came into the log a segment may get records that are acknowledged: longer than writers believe answers. */
export const SEGMENT_OVER_MILLIS = 120_000;
/** Ages are told in steps of so many milliseconds. Reason: each is a commit. */
const STEP_MILLIS = 10_000;
/** Silence from which on a writer may have died; one that lives soon begins another segment. */
const QUIET_MILLIS = 5000;

/** The ages of segments that are worth telling of. @param now monotonic milliseconds */
export function quietAges(segments: WriterSegments, now: number): ReadonlyMap<WriterId, AgedSegment> {
  const ages = new Map<WriterId, AgedSegment>();
  for (const { writer, segment, seenMillis, heardMillis } of segments.current()) {
    if (now - heardMillis < QUIET_MILLIS) continue;
    const millis = Math.min(SEGMENT_OVER_MILLIS, Math.floor((now - seenMillis) / STEP_MILLIS) * STEP_MILLIS);
    if (millis > 0) ages.set(writer, { segment, millis });
  }
  return ages;
}
