/** Arrays in text: `{1,NULL,"a b"}`. */
import { WireFailure } from "./errors.ts";

/** Most elements of an array. Reason: each is a value of its own. */
const ELEMENTS_MAX = 1_000_000;
const ELEMENT = /\s*(?:"((?:[^"\\]|\\[^])*)"|([^{},"\\\s](?:[^{},"\\]|\\[^])*|\\[^](?:[^{},"\\]|\\[^])*))\s*/y;

/** The elements of an array of one dimension; undefined is NULL. @throws WireFailure for a text that is none */
export function arrayElements(text: string): readonly (string | undefined)[] {
  const trimmed = text.trim().replace(/^\[[^\]]*\]=/, "");
  const malformed = (): WireFailure => new WireFailure("22P02", `malformed array literal: "${text.slice(0, 80)}"`);
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) throw malformed();
  if (/^\{\s*\}$/.test(trimmed)) return [];
  if (/^\{\s*\{/.test(trimmed)) throw new WireFailure("0A000", "Not supported: an array of more than one dimension");
  const elements: (string | undefined)[] = [];
  for (let at = 1; ; ) {
    ELEMENT.lastIndex = at;
    const found = ELEMENT.exec(trimmed);
    if (found === null) throw malformed();
    const [whole, quoted, plain = ""] = found;
    const isNull = quoted === undefined && /^null\s*$/i.test(plain);
    elements.push(isNull ? undefined : (quoted ?? plain.trimEnd()).replace(/\\([^])/g, "$1"));
    if (elements.length > ELEMENTS_MAX) throw new WireFailure("54000", `an array has more than ${ELEMENTS_MAX} elements`);
    at += whole.length;
    const mark = trimmed.charAt(at++);
    if (mark === "}" && at === trimmed.length) return elements;
    if (mark !== ",") throw malformed();
  }
}
