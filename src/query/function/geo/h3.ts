/** The library of H3 cells, loaded when a query first needs it: 60 ms and 19 MB that most servers never spend. */
import type * as library from "h3-js";

type H3 = typeof library;

let loaded: H3 | undefined;

/** The library. */
export function h3(): H3 {
  loaded ??= require("h3-js") as H3; // what the module of that name exports
  return loaded;
}
