/** The library of H3 cells, loaded when a query first needs it: 60 ms and 19 MB that most servers never spend. */
type H3 = typeof import("h3-js");

let loaded: H3 | undefined;

/** The library. */
export function h3(): H3 {
  loaded ??= require("h3-js") as H3; // what the module of that name exports
  return loaded;
}
