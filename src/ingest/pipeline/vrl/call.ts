/** Calls of functions: arguments by place or name, paths, patterns and closures. */
import { plainText } from "../json/json-text.ts";
import type { Regex } from "../../../base/text/linear-regex.ts";
import { compileRegex } from "../regex.ts";
import { isObject, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";
import { FUNCTIONS, type VrlFunction } from "./functions.ts";
import { type Context, type Eval, executeError, Kind, kindName, type Node, step } from "./node.ts";
import { boundedText, condition } from "./operators.ts";
import { remove, valueAt } from "./path.ts";

/** An argument: a value or a regular expression. */
export type Argument =
  | { readonly name: string | undefined; readonly node: Node; readonly regex?: undefined }
  | { readonly name: string | undefined; readonly regex: string; readonly node?: undefined };

/** `-> |names| { body }` */
export interface Closure {
  readonly names: readonly string[];
  readonly body: Node;
}

type Refuse = (why: string) => Error;

/** Compiles a call. @throws what `refuse` makes */
export function compileCall(name: string, args: readonly Argument[], closure: Closure | undefined, refuse: Refuse): Node {
  if (name === "del" || name === "exists") return pathCall(name, args, refuse);
  const iterate = ITERATIONS.get(name);
  if (iterate !== undefined) {
    if (closure === undefined) throw refuse(`${name} needs a closure`);
    const node = bound(name, ["value", "recursive"], args, refuse)[0]?.node;
    if (node === undefined || args.length > 1) throw refuse(`${name} takes one value`);
    return iterate(node.eval, closure);
  }
  if (closure !== undefined) throw refuse(`${name} takes no closure`);
  const pattern = PATTERN_CALLS.get(name);
  if (pattern !== undefined && args.some(({ regex }) => regex !== undefined)) {
    const given = bound(name, pattern.params, args, refuse);
    const regex = given[1]?.regex;
    if (regex !== undefined) return patternCall(name, pattern, given, compileRegex(regex, "Failed to compile VRL"), refuse);
  }
  const definition = FUNCTIONS.get(name);
  if (definition === undefined)
    throw refuse(`${pattern === undefined ? "undefined function" : "a regular expression is needed by"} '${name}'`);
  return valueCall(name, definition, args, refuse);
}

function bound(name: string, params: readonly string[], args: readonly Argument[], refuse: Refuse): readonly (Argument | undefined)[] {
  const slots: (Argument | undefined)[] = params.map(() => undefined);
  let next = 0;
  for (const arg of args) {
    const place = arg.name === undefined ? next++ : params.indexOf(arg.name);
    if (place < 0) throw refuse(`${name} has no argument '${arg.name}'`);
    if (place >= params.length) throw refuse(`${name} takes at most ${params.length} arguments`);
    slots[place] = arg;
  }
  return slots;
}

function valueCall(name: string, { params, required, kinds, run }: VrlFunction, args: readonly Argument[], refuse: Refuse): Node {
  const evals = bound(name, params, args, refuse).map((arg, i): Eval | undefined => {
    if (arg?.regex !== undefined) throw refuse(`${name} takes no regular expression`);
    if (arg === undefined && i < required) throw refuse(`${name} lacks its argument '${params[i]}'`);
    return arg?.node.eval;
  });
  return {
    eval: (context) =>
      run(
        evals.map((evaluate) => evaluate?.(context)),
        context,
      ),
    kinds,
  };
}

function pathCall(name: string, args: readonly Argument[], refuse: Refuse): Node {
  const path = args[0]?.node?.path;
  if (path === undefined || args.length !== 1) throw refuse(`${name} takes one path`);
  if (name === "exists") return { eval: (context) => valueAt(context, path) !== undefined, kinds: Kind.boolean };
  return { eval: (context) => remove(context, path), kinds: Kind.any };
}

/** Runs a closure with its variables set, and puts back what they hid. */
function invoke(context: Context, { names, body }: Closure, values: readonly PipelineValue[]): PipelineValue {
  step(context);
  const { variables } = context;
  const hidden = names.map((name) => variables.get(name));
  for (const [i, name] of names.entries()) variables.set(name, values[i] ?? null);
  const result = body.eval(context);
  for (const [i, name] of names.entries()) {
    const before = hidden[i];
    if (before === undefined) variables.delete(name);
    else variables.set(name, before);
  }
  return result;
}

function entriesOf(name: string, value: PipelineValue): readonly (readonly [PipelineValue, PipelineValue])[] {
  if (Array.isArray(value)) return value.map((item, i) => [i, item]);
  if (isObject(value)) return Object.entries(value);
  throw executeError(`${name} needs an object or array, but got ${kindName(value)}`);
}

function rebuilt(value: PipelineValue, entries: readonly (readonly [PipelineValue, PipelineValue])[]): PipelineValue {
  if (Array.isArray(value)) return entries.map(([, item]) => item);
  const object: PipelineObject = {};
  for (const [key, item] of entries) setField(object, plainText(key), item);
  return object;
}

const CONTAINER = Kind.array | Kind.object;
const ITERATIONS: ReadonlyMap<string, (value: Eval, closure: Closure) => Node> = new Map([
  [
    "for_each",
    (value, closure): Node => ({
      eval: (context) => {
        for (const entry of entriesOf("for_each", value(context))) invoke(context, closure, entry);
        return null;
      },
      kinds: Kind.null,
    }),
  ],
  [
    "map_values",
    (value, closure): Node => ({
      eval: (context) => {
        const from = value(context);
        return rebuilt(
          from,
          entriesOf("map_values", from).map(([key, item]) => [key, invoke(context, closure, [item])]),
        );
      },
      kinds: CONTAINER,
    }),
  ],
  [
    "map_keys",
    (value, closure): Node => ({
      eval: (context) => {
        const from = value(context);
        if (!isObject(from)) throw executeError(`map_keys needs an object, but got ${kindName(from)}`);
        return rebuilt(
          from,
          Object.entries(from).map(([key, item]) => [invoke(context, closure, [key]), item]),
        );
      },
      kinds: Kind.object,
    }),
  ],
  [
    "filter",
    (value, closure): Node => ({
      eval: (context) => {
        const from = value(context);
        return rebuilt(
          from,
          entriesOf("filter", from).filter((entry) => condition(invoke(context, closure, entry))),
        );
      },
      kinds: CONTAINER,
    }),
  ],
]);

/** A function whose second argument may be a regular expression. */
interface PatternCall {
  readonly params: readonly string[];
  readonly kinds: number;
  readonly run: (regex: Regex, text: string, rest: readonly PipelineValue[]) => PipelineValue;
}

function namedGroups(regex: Regex, groups: readonly (string | undefined)[]): PipelineObject {
  const object: PipelineObject = {};
  for (const [name, group] of regex.names) setField(object, name, groups[group] ?? null);
  return object;
}

const PATTERN_CALLS: ReadonlyMap<string, PatternCall> = new Map<string, PatternCall>([
  ["match", { params: ["value", "pattern"], kinds: Kind.boolean, run: (regex, text) => regex.test(text) }],
  [
    "parse_regex",
    {
      params: ["value", "pattern"],
      kinds: Kind.object,
      run: (regex, text) => {
        const groups = regex.first(text);
        if (groups === undefined) throw executeError("could not find any pattern matches");
        return namedGroups(regex, groups);
      },
    },
  ],
  [
    "parse_regex_all",
    {
      params: ["value", "pattern"],
      kinds: Kind.array,
      run: (regex, text) => {
        const found: PipelineValue[] = [];
        regex.replaceAll(text, (groups) => {
          found.push(namedGroups(regex, groups));
          return "";
        });
        return found;
      },
    },
  ],
  [
    "replace",
    {
      params: ["value", "pattern", "with"],
      kinds: Kind.string,
      run: (regex, text, [replacement]) => {
        if (typeof replacement !== "string") throw executeError(`replace needs a string, but got ${kindName(replacement)}`);
        return boundedText(regex.replaceAll(text, () => replacement));
      },
    },
  ],
  [
    "split",
    {
      params: ["value", "pattern"],
      kinds: Kind.array,
      run: (regex, text) => regex.split(text),
    },
  ],
]);

function patternCall(
  name: string,
  { params, kinds, run }: PatternCall,
  given: readonly (Argument | undefined)[],
  regex: Regex,
  refuse: Refuse,
): Node {
  const subject = given[0]?.node?.eval;
  if (subject === undefined) throw refuse(`${name} lacks its argument 'value'`);
  const rest = params.slice(2).map((param, i) => {
    const evaluate = given[i + 2]?.node?.eval;
    if (evaluate === undefined) throw refuse(`${name} lacks its argument '${param}'`);
    return evaluate;
  });
  const call: Eval = (context) => {
    const text = subject(context);
    if (typeof text !== "string") throw executeError(`${name} needs a string, but got ${kindName(text)}`);
    return run(
      regex,
      text,
      rest.map((evaluate) => evaluate(context)),
    );
  };
  return { eval: call, kinds };
}
