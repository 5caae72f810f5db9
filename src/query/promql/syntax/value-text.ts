/**
 * Numbers, durations and moments as Prometheus prints them.
 */
import type { AtModifier, DurationValue, NumberLiteral } from "./ast.ts";

/** Digits without an exponent: `0.001`, `100000000000000000000000`, `+Inf`. */
export function numberText(value: number): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  const [, sign = "", digits = "", fraction = "", exponent = "0"] = PARTS.exec(String(Object.is(value, -0) ? "-0" : value)) ?? [];
  const all = digits + fraction;
  const point = digits.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${all}`;
  if (point >= all.length) return `${sign}${all}${"0".repeat(point - all.length)}`;
  return `${sign}${all.slice(0, point)}.${all.slice(point)}`;
}

/** The same with an exponent where it is large or small: `1e+06`, `1e-05`. */
export function shortNumberText(value: number): string {
  const special = specialText(value);
  if (special !== undefined) return special;
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= EXPONENT_DOWN_TO && power < EXPONENT_FROM) return numberText(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Powers of ten between which numbers have no exponent. */
const EXPONENT_DOWN_TO = -4;
const EXPONENT_FROM = 6;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? "+Inf" : "-Inf";
}

/** Years and weeks stand alone: 90 days are `90d`. */
const UNITS: readonly (readonly [unit: string, millis: number, onlyWhole: boolean])[] = [
  ["y", 31_536_000_000, true],
  ["w", 604_800_000, true],
  ["d", 86_400_000, false],
  ["h", 3_600_000, false],
  ["m", 60_000, false],
  ["s", 1000, false],
  ["ms", 1, false],
];

/** `1h30m`, `-5s`, `0s`. */
export function durationText(millis: number): string {
  if (millis < 0) return `-${durationText(-millis)}`;
  if (millis === 0) return "0s";
  let rest = millis;
  let text = "";
  for (const [unit, size, onlyWhole] of UNITS) {
    const count = Math.floor(rest / size);
    if (count === 0 || (onlyWhole && rest % size !== 0)) continue;
    text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}

/** A literal of a query. */
export function literalText({ value, isDuration }: Pick<NumberLiteral, "value" | "isDuration">): string {
  // Through nanoseconds: seconds times 1,000 may be just below a whole number.
  return isDuration ? durationText(Math.trunc(Math.round(value * 1e9) / 1e6)) : numberText(value);
}

/** ` @ 1.000`, ` @ end()`; "" when there is none. */
export function atText(at: AtModifier | undefined): string {
  if (at === undefined) return "";
  return at.kind === "time" ? ` @ ${(at.millis / 1000).toFixed(3)}` : ` @ ${at.kind}()`;
}

/** Whether an offset says anything. */
export function isZero(duration: DurationValue): boolean {
  return duration.kind === "Milliseconds" && duration.millis === 0;
}
