/**
 * Attributes as Jaeger's tags: `{"key":"http.status_code","type":"int64","value":200}`. Tags are kept as printed JSON, so that integers
 * beyond 2^53 stay what they are. Types and the names of what is no attribute: "OpenTelemetry to Jaeger transformation",
 * opentelemetry.io/docs/specs/otel/trace/sdk_exporters/jaeger.
 */
import type { DataType } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";

/** A tag: its key, to sort by, and its JSON. */
export interface Tag {
  readonly key: string;
  readonly json: string;
}

/** A tag of a text. */
export function textTag(key: string, value: string): Tag {
  return tag(key, "string", JSON.stringify(value));
}

/** A tag of a truth value. */
export function boolTag(key: string, value: boolean): Tag {
  return tag(key, "bool", String(value));
}

/** The tag of a cell; undefined for NULL. */
export function cellTag(key: string, value: Scalar, type: DataType): Tag | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array) return tag(key, "binary", JSON.stringify(value.toBase64()));
  if (typeof value === "boolean") return boolTag(key, value);
  if (typeof value === "string") return textTag(key, value);
  if (type.kind === "float") return numberTag(key, Number(value));
  return tag(key, "int64", String(value));
}

/** The tags of a document of attributes; what is no object gives none. Numbers keep their digits. */
export function documentTags(document: Scalar): Tag[] {
  return Object.entries(objectOf(parsedJson(document))).flatMap(([key, value]) => valueTag(key, value) ?? []);
}

/** Sorts tags by key and prints them as a list. */
export function tagList(tags: Tag[]): string {
  const sorted = tags.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return `[${sorted.map(({ json }) => json).join(",")}]`;
}

/** Of ECMA-262's "JSON.parse source text access", which the types do not have yet. */
const rawJson = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** A number of a document as it is written there. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return rawJson.rawJSON(this.text);
  }
}

/** What a cell of JSON holds, numbers as they are written; undefined where it holds none. */
export function parsedJson(document: Scalar): unknown {
  if (typeof document !== "string") return undefined;
  return JSON.parse(document, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? new WrittenNumber(context.source) : value,
  );
}

/** The members of an object; none of anything else. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The tag of a value of a document; undefined for null. */
export function valueTag(key: string, value: unknown): Tag | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "string") return textTag(key, value);
  if (typeof value === "boolean") return boolTag(key, value);
  if (value instanceof WrittenNumber) return /^-?\d+$/.test(value.text) ? tag(key, "int64", value.text) : tag(key, "float64", value.text);
  return textTag(key, JSON.stringify(value));
}

/** JSON has no NaN and no infinity: they are texts, as Jaeger's own page has them. */
function numberTag(key: string, value: number): Tag {
  return Number.isFinite(value) ? tag(key, "float64", String(value)) : textTag(key, String(value));
}

function tag(key: string, type: string, value: string): Tag {
  return { key, json: `{"key":${JSON.stringify(key)},"type":"${type}","value":${value}}` };
}
