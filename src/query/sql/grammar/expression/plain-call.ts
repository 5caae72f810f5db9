/** Calls that other spellings stand for. */
import type { IToken } from "chevrotain";
import type { Expression } from "../../syntax/ast.ts";
import { spanOf } from "../base/base-rules.ts";

/** The call of a function and nothing more: `name(args)`, which begins at a token. */
export function plainCall(name: string, args: readonly Expression[], token: IToken): Expression {
  return { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span: spanOf(token) };
}
