/**
 * `info(vector, {matchers})`: series with the labels of info metrics of the same `instance` and `job`, as they are at each step.
 */
import { compileLinearRegex } from "../../../../base/text/linear-regex.ts";
import type { Call, Expression, LabelMatcher, VectorSelector } from "../../syntax/ast.ts";
import { copyStep, emptySteps, valueAt } from "../kernels/steps.ts";
import { labelsKey, labelValue, METRIC_NAME, onlyLabels, withLabel } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import { collected, evaluationError, type Scope, type StepSeries, type StepVectorMaker, together, unwrapped } from "../scope.ts";
import { instantSelector, momentsOf } from "../selectors.ts";
import { overSteps } from "../turns.ts";
import type { Labels } from "../series-source.ts";

const IDENTIFYING: ReadonlySet<string> = new Set(["instance", "job"]);
const DEFAULT_NAME: LabelMatcher = { name: METRIC_NAME, operator: "=", value: "target_info", takesEmpty: false };

/** The series of a call. @throws DbError where two info metrics disagree about a label */
export async function* info(call: Call, scope: Scope): StepVectorMaker {
  const [vector, selector] = call.args;
  if (vector === undefined) return;
  const given = selector?.kind === "VectorSelector" ? selector.matchers : [];
  const data = given.filter(({ name }) => name !== METRIC_NAME);
  const ofName = given.filter(({ name }) => name === METRIC_NAME);
  const names = ofName.some(isPositive) ? ofName : [...ofName, DEFAULT_NAME];
  const node: VectorSelector = {
    kind: "VectorSelector",
    name: "",
    matchers: [...names, ...data],
    offset: { kind: "Milliseconds", millis: 0 },
    at: undefined,
    isAnchored: false,
    isSmoothed: false,
    valueType: "vector",
    span: call.span,
  };
  // The values are times: of several series of one metric the newest counts.
  const found = await collected(instantSelector(node, momentsOfBase(vector, scope), "time"), scope);
  const byIdentity = Map.groupBy(found.all, ({ labels }) => labelsKey(onlyLabels(labels, IDENTIFYING)));
  const isInfo = nameTest(names);
  const wanted = new Set(data.map(({ name }) => name));
  const needsInfo = data.some(({ takesEmpty }) => !takesEmpty);
  const merged = new MergedSeries(scope);
  for await (const some of scope.query.vector(vector, scope)) {
    for (const series of some) {
      if (isInfo(labelValue(series.labels, METRIC_NAME))) {
        merged.add(series);
        continue;
      }
      const identity = onlyLabels(series.labels, IDENTIFYING);
      const infos = identity.length === 0 ? [] : (byIdentity.get(labelsKey(identity)) ?? []);
      for (const one of await enriched(series, infos, wanted, needsInfo, scope)) merged.add(one);
    }
  }
  yield* together(merged.take(), scope);
  found.release();
}

/** Where the first selector of the base looks: info metrics are taken from there. */
function momentsOfBase(node: Expression, scope: Scope): Scope {
  const inner = unwrapped(node);
  switch (inner.kind) {
    case "VectorSelector":
      return { ...scope, moments: momentsOf(inner, scope) };
    case "MatrixSelector":
      return { ...scope, moments: momentsOf(inner.selector, scope) };
    case "SubqueryExpression":
      return momentsOfBase(inner.expression, { ...scope, moments: momentsOf(inner, scope) });
    case "UnaryExpression":
    case "AggregateExpression":
      return momentsOfBase(inner.expression, scope);
    case "BinaryExpression":
      return momentsOfBase(inner.left.valueType === "scalar" ? inner.right : inner.left, scope);
    case "Call": {
      const argument = inner.args.find(({ valueType }) => valueType === "vector" || valueType === "matrix");
      return argument === undefined ? scope : momentsOfBase(argument, scope);
    }
    default:
      return scope;
  }
}

function isPositive({ operator }: LabelMatcher): boolean {
  return operator === "=" || operator === "=~";
}

function nameTest(matchers: readonly LabelMatcher[]): (name: string) => boolean {
  const tests = matchers.map(({ operator, value }) => {
    if (operator === "=" || operator === "!=") return (name: string) => (name === value) === (operator === "=");
    const regex = compileLinearRegex(`^(?:${value})$`, { dotAll: true });
    if (!regex.ok) throw evaluationError(`invalid regular expression in info(): ${value}`);
    return (name: string) => regex.value.test(name) === (operator === "=~");
  });
  return (name) => tests.every((test) => test(name));
}

/** What a step costs, and each info series at it, in samples of other loops. */
const STEP_COST = 64;

/** The series apart by the labels that it gets. */
async function enriched(
  base: StepSeries,
  infos: readonly StepSeries[],
  wanted: ReadonlySet<string>,
  needsInfo: boolean,
  scope: Scope,
): Promise<Iterable<StepSeries>> {
  const parts = new Map<string, StepSeries>();
  const enrich = (step: number): void => {
    if (base.present[step] === 0) return;
    const newest = new Map<string, StepSeries>();
    for (const one of infos) {
      if (one.present[step] === 0) continue;
      const name = labelValue(one.labels, METRIC_NAME);
      const known = newest.get(name);
      if (known === undefined || valueAt(one.values, step) > valueAt(known.values, step)) newest.set(name, one);
    }
    if (newest.size === 0 && needsInfo) return;
    const labels = joined(base.labels, newest.values(), wanted);
    const key = labelsKey(labels);
    let part = parts.get(key);
    if (part === undefined) {
      part = { labels, dropsName: base.dropsName, ...emptySteps(base.present.length) };
      parts.set(key, part);
    }
    copyStep(base, part, step);
  };
  const loop = (from: number, to: number): void => {
    for (let step = from; step < to; step++) enrich(step);
  };
  await overSteps(scope.query, base.present.length, loop, STEP_COST * (1 + infos.length));
  return parts.values();
}

function joined(base: Labels, infos: Iterable<StepSeries>, wanted: ReadonlySet<string>): Labels {
  const added = new Map<string, string>();
  for (const { labels } of infos) {
    for (const [name, value] of labels) {
      if (name === METRIC_NAME || IDENTIFYING.has(name) || (wanted.size > 0 && !wanted.has(name))) continue;
      if ((added.get(name) ?? value) !== value) throw evaluationError(`conflicting label: ${name}`);
      added.set(name, value);
    }
  }
  let labels = base;
  for (const [name, value] of added) if (labelValue(base, name) === "") labels = withLabel(labels, name, value);
  return labels;
}
