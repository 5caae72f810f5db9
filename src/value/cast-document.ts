/** Casts to JSON and to vectors of 32-bit floats. */
import { StatusCode } from "../base/status-code.ts";
import { type Present, textOf } from "./any-value.ts";
import { CastFailure, quoted } from "./cast-failure.ts";
import { embeddingOfText } from "./embedding.ts";
import { canonicalJson } from "./json-text.ts";

/** The canonical text of a document. */
export function castToJson(text: string): string | CastFailure {
  const json = canonicalJson(text);
  if (json.ok) return json.text;
  return new CastFailure(() => `Execution error: cannot parse '${quoted(text)}': ${json.why}, pos ${json.position}`);
}

/** A document of type JSON2: an object that has fields (contract query.md 1.3). */
export function castToObject(text: string): string | CastFailure {
  const json = castToJson(text);
  if (json instanceof CastFailure) return json;
  if (!json.startsWith("{")) return new CastFailure(() => "Non-object json is not supported currently", StatusCode.Unsupported);
  if (json !== "{}") return json;
  const why = "empty json object is not supported, consider adding a dummy field";
  return new CastFailure(() => `Invalid InsertRequest, reason: ${why}`, StatusCode.InvalidArguments);
}

/** The canonical text of a document. @throws DbError EngineExecuteQuery where the text is no JSON */
export function toJson(text: string): string {
  const json = castToJson(text);
  if (json instanceof CastFailure) throw json.error();
  return json;
}

/** The bytes of a vector. @param dimension undefined: of any */
export function castToVector(value: Present, dimension: number | undefined): Uint8Array | CastFailure {
  if (value instanceof Uint8Array) {
    if (value.length % 4 === 0 && (dimension === undefined || value.length === dimension * 4)) return value;
    return noVector(() => `${value.length} bytes are no Vector(${dimension ?? "n"}): wrong dimension`);
  }
  const text = textOf(value);
  const parsed = embeddingOfText(text, dimension);
  return parsed.ok ? parsed.bytes : noVector(() => `Failed to parse ${quoted(text)} to Vector value: ${parsed.why}`);
}

function noVector(why: () => string): CastFailure {
  return new CastFailure(() => `Invalid Vector: ${why()}`, StatusCode.InvalidArguments);
}

/** The bytes of a vector of any dimension. @throws DbError InvalidArguments where the value is none */
export function toEmbedding(value: Present): Uint8Array {
  const bytes = castToVector(value, undefined);
  if (bytes instanceof CastFailure) throw bytes.error();
  return bytes;
}
