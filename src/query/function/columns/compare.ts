/** Texts compared by their bytes, whose order is that of code points. */
import type { Texts } from "../../../column/texts.ts";
import { type OrderOperator, orderHolds } from "../../../value/order-holds.ts";

const encoder = new TextEncoder();

/** Each byte as it is. */
const SAME: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** By byte: ASCII letters in one case, all others as they are. */
export const CASE_BYTES: Readonly<Record<"lower" | "upper", Uint8Array>> = {
  lower: SAME.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte)),
  upper: SAME.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 32 : byte)),
};

/**
 * Whether the order of each row's text and a constant is what an operator asks for, as 0 and 1.
 *
 * @param read what a byte of the texts counts as: most are told apart by their first ones, and need not be written in another case before
 */
export function comparedWithText(
  texts: Texts,
  rowCount: number,
  operator: OrderOperator,
  text: string,
  read: Uint8Array = SAME,
): Uint8Array {
  const constant = encoder.encode(text);
  const holds = new Uint8Array(rowCount);
  if (operator === "=") fillEqual(texts, rowCount, constant, read, holds, 1);
  else if (operator === "<>") fillEqual(texts, rowCount, constant, read, holds.fill(1), 0);
  else fillOrdered(texts, rowCount, constant, read, truthOf(operator), holds);
  return holds;
}

/** What an operator makes of an order of -1, 0 and 1, each one further on. */
function truthOf(operator: OrderOperator): Uint8Array {
  return Uint8Array.from([-1, 0, 1], (order) => (orderHolds(operator, order) ? 1 : 0));
}

function fillEqual(
  { bytes, starts, ends }: Texts,
  rowCount: number,
  constant: Uint8Array,
  read: Uint8Array,
  into: Uint8Array,
  value: number,
): void {
  const size = constant.length;
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    if ((ends[row] as number) - start !== size) continue;
    let i = 0;
    while (i < size && read[bytes[start + i] as number] === constant[i]) i++;
    if (i === size) into[row] = value;
  }
}

function fillOrdered(
  { bytes, starts, ends }: Texts,
  rowCount: number,
  constant: Uint8Array,
  read: Uint8Array,
  truth: Uint8Array,
  into: Uint8Array,
): void {
  const size = constant.length;
  for (let row = 0; row < rowCount; row++) {
    const start = starts[row] as number;
    const length = (ends[row] as number) - start;
    const shared = length < size ? length : size;
    let i = 0;
    while (i < shared && read[bytes[start + i] as number] === constant[i]) i++;
    const difference = i < shared ? (read[bytes[start + i] as number] as number) - (constant[i] as number) : length - size;
    into[row] = truth[difference < 0 ? 0 : difference > 0 ? 2 : 1] as number;
  }
}

/** The same of two columns. */
export function comparedTexts(a: Texts, b: Texts, rowCount: number, operator: OrderOperator): Uint8Array {
  const holds = new Uint8Array(rowCount);
  const truth = truthOf(operator);
  const [own, other] = [a.bytes, b.bytes];
  for (let row = 0; row < rowCount; row++) {
    const start = a.starts[row] as number;
    const otherStart = b.starts[row] as number;
    const length = (a.ends[row] as number) - start;
    const otherLength = (b.ends[row] as number) - otherStart;
    const shared = length < otherLength ? length : otherLength;
    let i = 0;
    while (i < shared && own[start + i] === other[otherStart + i]) i++;
    const difference = i < shared ? (own[start + i] as number) - (other[otherStart + i] as number) : length - otherLength;
    holds[row] = truth[difference < 0 ? 0 : difference > 0 ? 2 : 1] as number;
  }
  return holds;
}
