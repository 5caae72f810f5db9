/**
 * Intervals as 16 bytes, as they lie in vectors between the operators of a query. Their order is not that of the bytes: it is that of
 * lengths, of which a month has 30 days and a day 24 hours.
 *
 *   4 months    4 days    8 nanoseconds       signed, the highest byte first
 */

const INTERVAL_BYTES = 16;

/** An interval, which is no scalar since no column holds one. */
export interface IntervalParts {
  readonly months: number;
  readonly days: number;
  readonly nanos: bigint;
}

/** The bytes of an interval whose months and days have 32 bits and whose nanoseconds have 64. */
export function intervalBytes({ months, days, nanos }: IntervalParts): Uint8Array {
  const bytes = new Uint8Array(INTERVAL_BYTES);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, months);
  view.setInt32(4, days);
  view.setBigInt64(8, nanos);
  return bytes;
}

/** The interval of bytes. */
export function intervalOfBytes(bytes: Uint8Array): IntervalParts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, INTERVAL_BYTES);
  return { months: view.getInt32(0), days: view.getInt32(4), nanos: view.getBigInt64(8) };
}
