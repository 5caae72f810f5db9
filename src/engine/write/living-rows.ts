import { type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { ceilDivide } from "../time/expiry.ts";
import { takeWriteRows } from "../time/time-conversion.ts";

/**
 * The rows of a write that have not expired: the write itself when all are, undefined when none is.
 *
 * @param before rows of a time before it have expired, in `unit`, to which times of the write are rounded down
 */
export function livingRows(write: TableWrite, before: bigint, unit: TimeUnit): TableWrite | undefined {
  const { times, rowCount } = write;
  const limit = Number(inWriteUnit(before, write.timeUnit, unit) - times.base);
  let count = 0;
  for (let i = 0; i < rowCount; i++) if ((times.offsets[i] as number) >= limit) count++;
  if (count === rowCount) return write;
  if (count === 0) return undefined;
  const rows = new Uint32Array(count);
  for (let i = 0, at = 0; i < rowCount; i++) if ((times.offsets[i] as number) >= limit) rows[at++] = i;
  return takeWriteRows(write, rows);
}

/** The first time of a write that is not before `time` once it is in the table's unit. */
function inWriteUnit(time: bigint, from: TimeUnit, to: TimeUnit): bigint {
  const [sent, kept] = [BigInt(UNITS_PER_SECOND[from]), BigInt(UNITS_PER_SECOND[to])];
  return sent >= kept ? time * (sent / kept) : ceilDivide(time, kept / sent);
}
