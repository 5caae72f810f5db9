/** The log of whoever writes none: its rows come another way. Nothing can be appended; all else finds an empty log. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Wal } from "./wal.ts";

/** Makes one. @param why what an append is refused with, as "cannot write: <why>" */
export function noWal(why: string): Wal {
  const refusal = (): DbError => new DbError(StatusCode.Unsupported, `cannot write: ${why}`);
  return {
    recover: () => Promise.resolve({ segments: 0, records: 0, bytes: 0, tornTailBytes: 0, lostBytes: 0, lostSegments: 0, gaps: [] }),
    beginRecord: () => {
      throw refusal();
    },
    endSegment: () => undefined,
    append: () => Promise.reject(refusal()),
    queued: () => ({ records: 0, bytes: 0 }),
    segments: () => [],
    rotate: () => Promise.resolve(),
    trim: () => Promise.resolve(),
    failure: () => undefined,
    close: () => Promise.resolve(),
  };
}
