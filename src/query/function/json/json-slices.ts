/**
 * Looks into canonical JSON text (`value/json-text.ts`) without decoding it: a part of a canonical document is canonical text itself, so a
 * member or an element is a slice, and whole numbers keep all their digits.
 */
import { executionError } from "../value/execution-error.ts";
import { type DbError } from "../../../base/error.ts";

/** What a JSON value is. */
export type JsonKind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** The kind of a canonical document, by its first character. */
export function jsonKind(json: string): JsonKind {
  switch (json[0]) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

/** Elements of an array, in order. */
export function jsonElements(json: string): string[] {
  const elements: string[] = [];
  for (let at = 1; json[at] !== "]"; ) {
    const end = valueEnd(json, at);
    elements.push(json.slice(at, end));
    at = json[end] === "," ? end + 1 : end;
  }
  return elements;
}

/** Members of an object, sorted by key. */
export function jsonMembers(json: string): { readonly key: string; readonly value: string }[] {
  const members: { key: string; value: string }[] = [];
  for (let at = 1; json[at] !== "}"; ) {
    const keyEnd = stringEnd(json, at);
    const end = valueEnd(json, keyEnd + 1);
    members.push({ key: stringOf(json.slice(at, keyEnd)), value: json.slice(keyEnd + 1, end) });
    at = json[end] === "," ? end + 1 : end;
  }
  return members;
}

/** The member of a key, or undefined. */
export function jsonMember(json: string, key: string): string | undefined {
  const wanted = JSON.stringify(key).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  for (let at = 1; json[at] !== "}"; ) {
    const keyEnd = stringEnd(json, at);
    const end = valueEnd(json, keyEnd + 1);
    if (keyEnd - at === wanted.length && json.startsWith(wanted, at)) return json.slice(keyEnd + 1, end);
    at = json[end] === "," ? end + 1 : end;
  }
  return undefined;
}

/** The text that a JSON string stands for. */
export function stringOf(json: string): string {
  return json.includes("\\") ? (JSON.parse(json) as string) : json.slice(1, -1); // In quotes, so it is a string.
}

/** Past the value at `at`. */
function valueEnd(json: string, at: number): number {
  const first = json[at];
  if (first === '"') return stringEnd(json, at);
  if (first === "{" || first === "[") return nestedEnd(json, at);
  let end = at;
  while (end < json.length && !",]}".includes(json[end] ?? "")) end++;
  if (end === at) throw broken(json);
  return end;
}

/** Past the array or object at `at`. */
function nestedEnd(json: string, at: number): number {
  let depth = 0;
  for (let i = at; i < json.length; ) {
    const character = json[i];
    if (character === '"') {
      i = stringEnd(json, i);
      continue;
    }
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      depth--;
      if (depth === 0) return i + 1;
    }
    i++;
  }
  throw broken(json);
}

/** Past the string at `at`. */
function stringEnd(json: string, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i + 1;
  }
  throw broken(json);
}

/** Stored bytes are not trusted to be canonical: reading ends with an error, never out of range. */
function broken(json: string): DbError {
  return executionError(`cannot read stored JSON '${json.slice(0, 80)}': it is not well formed`);
}
