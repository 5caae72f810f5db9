/** Numbers and durations as scripts write them. */

/** A number within other text. */
export const NUMBER_TEXT: string = String.raw`[-+]?(?:inf|nan|0x[0-9a-f]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)`;
const NUMBER = new RegExp(`^${NUMBER_TEXT}$`, "i");

/** Undefined: it is none. */
export function parsedNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replace(/^[-+]/, "").toLowerCase();
  if (digits === "inf") return sign * Number.POSITIVE_INFINITY;
  if (digits === "nan") return Number.NaN;
  if (/^0[0-7]+$/.test(digits)) return sign * Number.parseInt(digits, 8);
  return sign * Number(digits.replaceAll("_", ""));
}

const UNITS: Readonly<Record<string, number>> = {
  y: 31_536_000_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** Milliseconds of `1h30m`, or of a number of seconds. @throws Error */
export function scriptDuration(text: string): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const plain = text.replace(/^-/, "");
  if (/^\d+(?:\.\d+)?$/.test(plain)) return sign * Math.trunc(Number(plain) * 1000);
  let millis = 0;
  const rest = plain.replaceAll(/(\d+)(ms|[ywdhms])/g, (_all, count: string, unit: string) => {
    millis += Number(count) * (UNITS[unit] ?? 0);
    return "";
  });
  if (rest !== "") throw new Error(`no duration: ${text}`);
  return sign * millis;
}
