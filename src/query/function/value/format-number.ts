/** Floats as text: shortest digits that read back, always with a point or an exponent (contract query.md 2.3). */

/** `1.0`, `0.1`, `1e17`, `NaN`, `inf`, `-inf`, `-0.0`. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return value.toExponential().replace("e+", "e");
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}
