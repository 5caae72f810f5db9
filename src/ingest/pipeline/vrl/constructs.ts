/** What each construct of the language does, as a node made of the nodes of its parts. */
import { DbError } from "../../../base/error.ts";
import { plainText } from "../json/json-text.ts";
import { floatValue, isObject, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";
import { type Context, type Eval, executeError, Kind, type Node, type Path, step } from "./node.ts";
import { arithmetic, condition, isEqual, isOrdered } from "./operators.ts";
import { assign, below, valueAt } from "./path.ts";

/** What a failed assignment leaves, by the kind that it would have had. */
const ZERO_OF: readonly (readonly [bits: number, value: PipelineValue])[] = [
  [Kind.string, ""],
  [Kind.int, 0],
  [Kind.float, floatValue(0)],
  [Kind.boolean, false],
  [Kind.array, []],
  [Kind.object, {}],
];

/** A value that is always the same. */
export function constant(value: PipelineValue, kinds: number): Node {
  return { eval: () => value, kinds };
}

/** `.a`, `name`, `name.a[0]`. */
export function pathNode(path: Path): Node {
  const isRow = path.variable === undefined && path.steps.length === 0;
  return { eval: (context) => valueAt(context, path) ?? null, kinds: isRow ? Kind.object | Kind.array : Kind.any, path };
}

/** Steps below a value that is no path itself. */
export function memberOf(node: Node, steps: readonly (string | number)[]): Node {
  return { eval: (context) => below(node.eval(context), steps), kinds: Kind.any };
}

/** A text with holes: `texts` with the values of `names` between them. */
export function template(texts: readonly string[], names: readonly string[]): Node {
  const fill: Eval = ({ variables }) =>
    texts.map((part, i) => part + (i < names.length ? plainText(variables.get(names[i] ?? "") ?? null) : "")).join("");
  return { eval: fill, kinds: Kind.string };
}

/** `[a, b]` */
export function arrayOf(items: readonly Eval[]): Node {
  return { eval: (context) => items.map((item) => item(context)), kinds: Kind.array };
}

/** `{ "key": a }` */
export function objectOf(entries: readonly (readonly [string, Eval])[]): Node {
  const make: Eval = (context) => {
    const object: PipelineObject = {};
    for (const [key, evaluate] of entries) setField(object, key, evaluate(context));
    return object;
  };
  return { eval: make, kinds: Kind.object };
}

/** Statements one after another; the value is that of the last. */
export function sequence(nodes: readonly Node[]): Node {
  const last = nodes.at(-1);
  if (last === undefined) return { eval: () => null, kinds: Kind.null };
  if (nodes.length === 1) return { eval: last.eval, kinds: last.kinds };
  const evals = nodes.map((node) => node.eval);
  const run: Eval = (context) => {
    let value: PipelineValue = null;
    for (const evaluate of evals) value = evaluate(context);
    return value;
  };
  return { eval: run, kinds: last.kinds };
}

/** `target = node` */
export function assigned(target: Path, node: Node): Node {
  const set: Eval = (context) => {
    const value = node.eval(context);
    assign(context, target, value);
    return value;
  };
  return { eval: set, kinds: node.kinds };
}

/** `target |= node` */
export function merged(target: Path, node: Node): Node {
  const merge: Eval = (context) => {
    const [left, right] = [valueAt(context, target), node.eval(context)];
    if (!isObject(left) || !isObject(right)) throw executeError("only objects can be merged with |=");
    const value = { ...left, ...right };
    assign(context, target, value);
    return value;
  };
  return { eval: merge, kinds: Kind.object };
}

/** `target, failed = node` */
export function assignedOrFailed(target: Path, failed: Path, node: Node): Node {
  const zero = ZERO_OF.find(([bits]) => node.kinds === bits)?.[1] ?? null;
  const set: Eval = (context) => {
    let value: PipelineValue;
    let why: PipelineValue = null;
    try {
      value = node.eval(context);
    } catch (error) {
      why = caught(context, error);
      value = zero;
    }
    assign(context, target, value);
    assign(context, failed, why);
    return value;
  };
  return { eval: set, kinds: node.kinds | Kind.null };
}

/** `if test then else other` */
export function conditional(test: Node, then: Node, other: Node | undefined): Node {
  if (other === undefined) {
    return { eval: (context) => (condition(test.eval(context)) ? then.eval(context) : null), kinds: then.kinds | Kind.null };
  }
  return {
    eval: (context) => (condition(test.eval(context)) ? then.eval(context) : other.eval(context)),
    kinds: then.kinds | other.kinds,
  };
}

/** `abort message` */
export function abort(message: Node): Node {
  const stop: Eval = (context) => {
    const why = plainText(message.eval(context));
    context.isAborted = true;
    throw executeError(why);
  };
  return { eval: stop, kinds: 0 };
}

/** `!node` */
export function negated(node: Node): Node {
  return { eval: (context) => !condition(node.eval(context)), kinds: Kind.boolean };
}

/** `-node` */
export function minus(node: Node): Node {
  return { eval: (context) => arithmetic("-", 0, node.eval(context)), kinds: node.kinds };
}

/** Two operands of an operator. */
export function combined(operator: string, left: Node, right: Node): Node {
  const [a, b] = [left.eval, right.eval];
  switch (operator) {
    case "??":
      return {
        eval: (context) => {
          try {
            return a(context);
          } catch (error) {
            caught(context, error);
            return b(context);
          }
        },
        kinds: left.kinds | right.kinds,
      };
    case "||":
      return {
        eval: (context) => {
          const value = a(context);
          return value === null || value === undefined || value === false ? b(context) : value;
        },
        kinds: left.kinds | right.kinds,
      };
    case "&&":
      return {
        eval: (context) => {
          const value = a(context);
          return value === null || value === undefined ? false : condition(value) && condition(b(context));
        },
        kinds: Kind.boolean,
      };
    case "==":
      return { eval: (context) => isEqual(a(context), b(context)), kinds: Kind.boolean };
    case "!=":
      return { eval: (context) => !isEqual(a(context), b(context)), kinds: Kind.boolean };
    case "<":
    case "<=":
    case ">":
    case ">=":
      return { eval: (context) => isOrdered(operator, a(context), b(context)), kinds: Kind.boolean };
    default: {
      const kinds = (left.kinds | right.kinds) & (Kind.int | Kind.float | Kind.string);
      return { eval: (context) => arithmetic(operator, a(context), b(context)), kinds };
    }
  }
}

/** The text of an error that the program catches. @throws what it must not catch: bugs, `abort`, and a program out of steps */
function caught(context: Context, error: unknown): string {
  if (context.isAborted || !(error instanceof DbError)) throw error;
  step(context);
  return error.details.reason ?? error.message;
}
