/**
 * Lists, structs and maps as JSON, the way answers carry them (contract http.md 2.4): a list is an array, a struct and a map are objects
 * whose keys are sorted; times are whole numbers in their unit, decimals text, binary an array of byte numbers, NaN and infinities null.
 */
import { compareCodePoints } from "../column/code-points.ts";
import { type DataType, isNested, type NestedType } from "../column/data-type.ts";
import { decimalText } from "../column/decimal.ts";
import { intervalText } from "./interval/interval-text.ts";
import { decodeNested, decodeNestedInPieces, type NestedPart } from "../column/nested.ts";
import { floatText } from "./number-text.ts";

/** The JSON of a nested value. Bounded by the value's size: at most six bytes of text for a byte. */
export function nestedJson(type: NestedType, bytes: Uint8Array): string {
  const parts = decodeNested(type, bytes);
  switch (type.kind) {
    case "list":
      return `[${parts.map((part) => partJson(type.element, part)).join(",")}]`;
    case "struct":
      return objectJson(type.fields.map((field, i) => [field.name, partJson(field.type, parts[i])]));
    case "map": {
      const entries: [string, string][] = [];
      for (let i = 0; i + 1 < parts.length; i += 2) entries.push([keyText(type.key, parts[i]), partJson(type.value, parts[i + 1])]);
      return objectJson(entries);
    }
  }
}

/** Elements of a list whose text is made at a time: some milliseconds. */
const ELEMENTS_PER_STEP = 16_384;

/** The same text in pieces: of a long list some thousand elements at a time. */
export function* nestedJsonSteps(type: NestedType, bytes: Uint8Array): Generator<string> {
  if (type.kind !== "list") {
    yield nestedJson(type, bytes);
    return;
  }
  let lead = "[";
  for (const parts of decodeNestedInPieces(type, bytes, ELEMENTS_PER_STEP)) {
    if (parts.length > 0) yield `${lead}${parts.map((part) => partJson(type.element, part)).join(",")}`;
    if (parts.length > 0) lead = ",";
  }
  yield lead === "[" ? "[]" : "]";
}

/** Of equal names the first counts. */
function objectJson(entries: readonly (readonly [string, string])[]): string {
  const first = new Map<string, string>();
  for (const [name, text] of entries) if (!first.has(name)) first.set(name, text);
  const sorted = [...first].sort(([a], [b]) => compareCodePoints(a, b));
  return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

function keyText(type: DataType, part: NestedPart): string {
  if (typeof part === "string" && type.kind !== "json") return part;
  const json = partJson(type, part);
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}

function partJson(type: DataType, part: NestedPart): string {
  if (part === undefined) return "null";
  if (part instanceof Uint8Array) return isNested(type) ? nestedJson(type, part) : `[${part.join(",")}]`;
  if (typeof part === "object") return JSON.stringify(intervalText(part));
  switch (type.kind) {
    case "float":
      return Number.isFinite(part) ? floatText(Number(part)) : "null";
    case "decimal":
      return JSON.stringify(decimalText(part as number | bigint, type.scale));
    case "json":
      return String(part);
    case "string":
      return JSON.stringify(part);
    default:
      return String(part);
  }
}
