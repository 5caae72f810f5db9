/**
 * How old segments of writers are that say nothing any more, for the manifest: an owner that takes the shard over counts on from there.
 * Else a shard whose owners change every minute would never close a segment of a writer that died, and never trim its log.
 *
 * Ages are of the monotonic clocks of processes, and nothing counts between two of them: a segment is as old as that at least.
 */
import type { WriterId } from "../../base/units.ts";
import type { AgedSegment, ClosedSegment } from "./log-start.ts";
import type { WriterSegments } from "./writer-segments.ts";

/** How long after it came into the log a segment may get records that are acknowledged: longer than writers believe answers. */
export const SEGMENT_OVER_MILLIS = 120_000;
/** Ages are told in steps of so many milliseconds. Reason: each is a commit. */
const STEP_MILLIS = 5000;
/** Silence from which on a writer may have died; one that lives soon begins another segment. */
const QUIET_MILLIS = 5000;

/** What an owner knows of ages. */
export interface KnownAges {
  readonly segments: WriterSegments;
  readonly closed: ReadonlyMap<WriterId, ClosedSegment>;
  /** What the manifest says. */
  readonly told: ReadonlyMap<WriterId, AgedSegment>;
  /** Since when this process reads the log: it has not come to all that is told of at first. */
  readonly sinceMillis: number;
}

/** The ages of segments that are worth telling of: none is younger than it was told of. @param now monotonic milliseconds */
export function quietAges({ segments, closed, told, sinceMillis }: KnownAges, now: number): ReadonlyMap<WriterId, AgedSegment> {
  const ages = new Map<WriterId, AgedSegment>();
  if (now - sinceMillis < SEGMENT_OVER_MILLIS) {
    for (const [writer, age] of told) if ((closed.get(writer)?.segment ?? 0) < age.segment) ages.set(writer, age);
  }
  for (const { writer, segment, seenMillis, heardMillis } of segments.current()) {
    const before = told.get(writer);
    ages.delete(writer);
    const least = before?.segment === segment ? before.millis : 0;
    // Whoever has just read the log has heard of all writers just now.
    if (least === 0 && now - heardMillis < QUIET_MILLIS) continue;
    const millis = Math.min(SEGMENT_OVER_MILLIS, Math.floor((now - seenMillis) / STEP_MILLIS) * STEP_MILLIS);
    if (Math.max(millis, least) > 0) ages.set(writer, { segment, millis: Math.max(millis, least) });
  }
  return ages;
}
