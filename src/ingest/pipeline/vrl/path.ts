/**
 * Reads and changes places in a row. Values are shared between places, so a change copies the containers on its way; the row itself is
 * copied only when somebody else may hold it.
 */
import { fieldOf, isObject, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";
import { type Context, executeError, type Path } from "./node.ts";

/** Highest index that an assignment may fill an array to. */
const INDEX_MAX = 10_000;

/** What is below a value; null when a step leads nowhere. */
export function below(start: PipelineValue, steps: readonly (string | number)[]): PipelineValue {
  let value = start;
  for (const step of steps) value = child(value, step);
  return value ?? null;
}

/** The value at a path, undefined when it is absent. */
export function valueAt(context: Context, { variable, steps }: Path): PipelineValue {
  let value = variable === undefined ? context.root : context.variables.get(variable);
  if (steps.length === 0 && variable === undefined) context.isRootShared = true;
  for (const step of steps) value = child(value, step);
  return value;
}

/** Sets the value at a path; what is on the way and no container becomes one. */
export function assign(context: Context, { variable, steps }: Path, value: PipelineValue): void {
  if (variable !== undefined) {
    context.variables.set(variable, withValue(context.variables.get(variable), steps, 0, value));
    return;
  }
  const [first] = steps;
  if (first === undefined) {
    context.root = value;
    context.isRootShared = true;
    return;
  }
  if (typeof first === "number" || !isObject(context.root)) {
    context.root = withValue(context.root, steps, 0, value);
    return;
  }
  const row = ownRow(context, context.root);
  setField(row, first, withValue(fieldOf(row, first), steps, 1, value));
}

/** Takes away the value at a path and gives it; null when there is none. The row itself is emptied. */
export function remove(context: Context, path: Path): PipelineValue {
  const value = valueAt(context, path);
  const { steps, variable } = path;
  const last = steps.at(-1);
  if (last === undefined) {
    assign(context, path, {});
    return value ?? null;
  }
  if (value === undefined) return null;
  if (steps.length === 1 && variable === undefined && typeof last === "string" && isObject(context.root)) {
    delete ownRow(context, context.root)[last];
    return value;
  }
  const parentPath = { variable, steps: steps.slice(0, -1) };
  const parent = valueAt(context, parentPath);
  if (Array.isArray(parent) && typeof last === "number") {
    assign(context, parentPath, parent.toSpliced(last, 1));
  } else if (isObject(parent) && typeof last === "string") {
    const copy = { ...parent };
    delete copy[last];
    assign(context, parentPath, copy);
  }
  return value;
}

function child(value: PipelineValue, step: string | number): PipelineValue {
  if (typeof step === "number") return Array.isArray(value) ? (value.at(step) as PipelineValue) : undefined; // items are values
  return isObject(value) ? fieldOf(value, step) : undefined;
}

function ownRow(context: Context, root: PipelineObject): PipelineObject {
  if (!context.isRootShared) return root;
  const copy = { ...root };
  context.root = copy;
  context.isRootShared = false;
  return copy;
}

function withValue(container: PipelineValue, steps: readonly (string | number)[], at: number, value: PipelineValue): PipelineValue {
  const step = steps[at];
  if (step === undefined) return value;
  if (typeof step === "string") {
    const copy = isObject(container) ? { ...container } : {};
    setField(copy, step, withValue(fieldOf(copy, step), steps, at + 1, value));
    return copy;
  }
  const items: PipelineValue[] = Array.isArray(container) ? [...container] : [];
  const index = step < 0 ? Math.max(0, items.length + step) : step;
  if (index > INDEX_MAX) throw executeError(`cannot set item ${index} of an array: at most ${INDEX_MAX}`);
  while (items.length < index) items.push(null);
  items[index] = withValue(items[index], steps, at + 1, value);
  return items;
}
