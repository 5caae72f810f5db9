import type { TimeVector } from "../column/vector.ts";
import { floorDivide } from "./civil.ts";

/** Times counted in a unit that is `factor` of their own, rounded down, also before 1970. The result has `rowCount` rows. */
export function coarserTimes({ base, offsets, validity }: TimeVector, rowCount: number, factor: number): TimeVector {
  const coarse = floorDivide(base, BigInt(factor));
  const rest = Number(base - coarse * BigInt(factor));
  const quotients = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const offset = offsets[row] ?? 0;
    const whole = Math.floor(offset / factor);
    // Split before adding: offset + rest may lie beyond 2^53.
    quotients[row] = whole + (offset - whole * factor + rest >= factor ? 1 : 0);
  }
  return { kind: "time", base: coarse, offsets: quotients, validity };
}
