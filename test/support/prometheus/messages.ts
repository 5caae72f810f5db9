/** Remote-write messages written byte by byte, for benchmarks and for tests that need bytes of their own choice. */

/** A series to be sent. */
export interface SentSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly { readonly time: number; readonly value: number }[];
}

const encoder = new TextEncoder();

/** Bytes of an unsigned varint, up to 2^53. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}

/** A length-delimited field. */
export function bytesField(number: number, bytes: Uint8Array | readonly number[]): number[] {
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
}

/** A text field. */
export function textField(number: number, text: string): number[] {
  return bytesField(number, encoder.encode(text));
}

/** A sample's message, both fields written. */
export function sampleMessage(time: number, value: number): number[] {
  const bits = new Uint8Array(8);
  new DataView(bits.buffer).setFloat64(0, value, true);
  return [0x09, ...bits, 0x10, ...varint(time)];
}

/** A request of version 1. */
export function messageV1(series: readonly SentSeries[]): Uint8Array {
  const parts = series.map(({ labels, samples }) => {
    const named = Object.entries(labels).flatMap(([name, value]) => bytesField(1, [...textField(1, name), ...textField(2, value)]));
    return bytesField(1, [...named, ...samples.flatMap(({ time, value }) => bytesField(2, sampleMessage(time, value)))]);
  });
  return Uint8Array.from(parts.flat());
}

/** A request of version 2. */
export function messageV2(series: readonly SentSeries[]): Uint8Array {
  const symbols = new Map<string, number>([["", 0]]);
  const ref = (text: string): number => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    symbols.set(text, symbols.size);
    return symbols.size - 1;
  };
  const parts = series.map(({ labels, samples }) => {
    const refs = Object.entries(labels).flatMap(([name, value]) => [...varint(ref(name)), ...varint(ref(value))]);
    return bytesField(5, [...bytesField(1, refs), ...samples.flatMap(({ time, value }) => bytesField(2, sampleMessage(time, value)))]);
  });
  return Uint8Array.from([...[...symbols.keys()].flatMap((text) => textField(4, text)), ...parts.flat()]);
}
