/**
 * Turns loop source into functions, once for each source text. The texts are made of fixed parts and counters: literals and names of
 * users are passed as arguments and never become part of a text, so the text is the shape of the plan.
 */
import { assert } from "../../base/assert.ts";

/** Most functions kept, and characters of their texts. Reason: each holds compiled code. Full: the oldest go. */
const FUNCTIONS_MAX = 1024;
const CHARACTERS_MAX = 2 * 1024 * 1024;

const cache = new Map<string, (...args: never[]) => unknown>();
let counter = 0;
/** Of the keys of `cache`. */
let characters = 0;

/**
 * The function of `parameters` and `body`.
 *
 * @param name shown in stack traces and profiles, as `varve:<name>-<n>`
 */
export function generated<F extends (...args: never[]) => unknown>(name: string, parameters: readonly string[], body: string): F {
  assert(/^[a-z0-9-]+$/.test(name), `a plain name of generated code; got ${name}`);
  const key = `${name}\n${parameters.join(",")}\n${body}`;
  const known = cache.get(key);
  if (known !== undefined) return known as F;
  const source = `"use strict";\n${body}\n//# sourceURL=varve:${name}-${++counter}`;
  const made = new Function(...parameters, source) as F; // the emitters alone write these texts
  cache.set(key, made);
  characters += key.length;
  for (const oldest of cache.keys()) {
    if (cache.size <= FUNCTIONS_MAX && characters <= CHARACTERS_MAX) break;
    cache.delete(oldest);
    characters -= oldest.length;
  }
  return made;
}
