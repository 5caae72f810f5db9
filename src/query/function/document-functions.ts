/** JSON and vectors from their texts, and back (contract query.md 2.5). */
import { BINARY, JSON_TYPE, STRING } from "../../column/data-type.ts";
import { embeddingText } from "../../column/embedding.ts";
import { toEmbedding, toJson } from "./cast.ts";
import { type ScalarFunction, strict } from "./scalar-function.ts";
import { typed } from "./signature.ts";
import { type Present, textOf } from "./value.ts";

/** One argument of these kinds, as it is. */
function oneOf(kinds: readonly string[], result: typeof STRING): ScalarFunction["resolve"] {
  return (args) => (args.length === 1 && kinds.includes(args[0]?.kind ?? "") ? { args, result } : undefined);
}

/** The functions of this file. */
export const DOCUMENT_FUNCTIONS: readonly ScalarFunction[] = [
  strict("parse_json(text)", typed(["text"], JSON_TYPE), ([text]) => toJson(textOf(text))),
  strict("json_to_string(json)", oneOf(["json", "string", "null"], STRING), ([json], { type }) =>
    type.args[0]?.kind === "json" ? textOf(json) : toJson(textOf(json)),
  ),
  strict("parse_vec(text)", typed(["text"], BINARY), ([text]) => toEmbedding(textOf(text), undefined)),
  strict("vec_to_string(vector)", oneOf(["vector", "binary", "string", "null"], STRING), ([vector]) =>
    embeddingText(toEmbedding(vector as Present, undefined)),
  ),
];
