/**
 * Operators between two instant vectors. The side of which one series may match is held, by its matching labels; the other streams through.
 */
import type { BinaryExpression, VectorMatching } from "../../syntax/ast.ts";
import { BINARY_OPERATORS } from "../../syntax/operators.ts";
import { unitePresent } from "../kernels/steps.ts";
import {
  compareLabels,
  labelsKey,
  labelsText,
  labelValue,
  METRIC_NAME,
  onlyLabels,
  withLabel,
  withoutLabels,
  withoutName,
} from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import { evaluationError, isTurnDue, type Scope, seriesBytes, type StepSeries, takeTurn } from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { addMember, type Combination, isMatchedTwice, matchSteps, type OneSide, unmatchedSteps } from "./kernels/matched.ts";
import { numberOperator } from "./kernels/operators.ts";

/** What a vector is without matching words. */
const PLAIN: VectorMatching = {
  cardinality: "one-to-one",
  labels: [],
  isOn: false,
  include: [],
  fillLeft: undefined,
  fillRight: undefined,
};

/** The labels by which two series match. */
export function signatureOf(matching: VectorMatching | undefined): (labels: Labels) => Labels {
  const { labels: names, isOn } = matching ?? PLAIN;
  const set = new Set(isOn ? names : [...names, METRIC_NAME]);
  return isOn ? (labels) => onlyLabels(labels, set) : (labels) => withoutLabels(labels, set);
}

/** Series that match under one set of labels. */
interface Group extends OneSide {
  /** Steps at which the other side has a value. */
  readonly seen: Uint8Array;
}

/** The series of an operation of two vectors. @throws DbError for several matches where one is allowed, and for memory */
export async function* matchedVectors(node: BinaryExpression, scope: Scope): AsyncGenerator<StepSeries> {
  const matching = node.matching ?? PLAIN;
  const combine = numberOperator(node.operator);
  if (combine === undefined) return; // `</` and `>/` are between histograms.
  const { query, moments } = scope;
  const isManyLeft = matching.cardinality !== "one-to-many";
  const signature = signatureOf(matching);
  const filters = BINARY_OPERATORS[node.operator].family === "comparison" && !node.returnsBool;
  // Prometheus fills after it has swapped the sides of `group_right`, so that there `left` is the right one.
  const { fillLeft: fillMany, fillRight: fillOne } = matching;
  const combination: Combination = { combine, filters, isManyLeft, fillMany, fillOne };
  const groups = await groupsOf(query.vector(isManyLeft ? node.right : node.left, scope), signature, scope, isManyLeft ? "right" : "left");
  const merged = new MergedSeries(scope);
  for await (const many of query.vector(isManyLeft ? node.left : node.right, scope)) {
    const group = groupAt(groups.byKey, signature(many.labels), fillOne === undefined ? undefined : moments.count);
    if (group === undefined) continue;
    const ids = new Set(group.owner);
    if (fillOne === undefined) ids.delete(0);
    for (const id of ids) {
      // Also what a comparison drops has matched.
      if (matching.cardinality === "one-to-one" && isMatchedTwice(many, group, id))
        throw evaluationError("multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)");
      const steps = matchSteps(many, group, id, combination);
      if (steps === undefined) continue;
      const labels = resultLabels(many.labels, group.members[id - 1]?.labels ?? [], node, matching);
      merged.add({ labels, dropsName: node.returnsBool || many.dropsName, ...steps });
    }
    unitePresent(group.seen, many.present);
    if (isTurnDue(query)) await takeTurn(query);
  }
  if (fillMany !== undefined) addUnmatched(groups.byKey.values(), node, matching, combination, merged);
  yield* merged.take();
  query.run.release(groups.bytes);
}

/** @param steps undefined: a group that is not there stays away */
function groupAt(groups: Map<string, Group>, labels: Labels, steps: number | undefined): Group | undefined {
  const key = labelsKey(labels);
  const known = groups.get(key);
  if (known !== undefined || steps === undefined) return known;
  const made: Group = { members: [], owner: new Int32Array(steps), seen: new Uint8Array(steps), used: new Uint8Array(steps) };
  groups.set(key, made);
  return made;
}

async function groupsOf(
  series: AsyncIterable<StepSeries>,
  signature: (labels: Labels) => Labels,
  { query, moments }: Scope,
  side: "left" | "right",
): Promise<{ byKey: Map<string, Group>; bytes: number }> {
  const byKey = new Map<string, Group>();
  let bytes = 0;
  for await (const one of series) {
    if (isTurnDue(query)) await takeTurn(query);
    const labels = signature(one.labels);
    query.run.reserve(seriesBytes(moments.count) + 6 * moments.count);
    bytes += seriesBytes(moments.count) + 6 * moments.count;
    const group = groupAt(byKey, labels, moments.count);
    if (group === undefined) continue;
    const rival = addMember(group, one);
    if (rival === undefined) continue;
    const twice = [one.labels, group.members[rival]?.labels ?? []].sort(compareLabels).map(labelsText).join(", ");
    const what = `found duplicate series for the match group ${labelsText(labels)} on the ${side} hand-side of the operation: [${twice}]`;
    throw evaluationError(`${what};many-to-many matching not allowed: matching labels must be unique on one side`);
  }
  return { byKey, bytes };
}

function resultLabels(many: Labels, one: Labels, { operator }: BinaryExpression, matching: VectorMatching): Labels {
  const { cardinality, labels: names, isOn, include } = matching;
  let labels = BINARY_OPERATORS[operator].family === "arithmetic" ? withoutName(many) : many;
  if (cardinality === "one-to-one") labels = isOn ? onlyLabels(labels, new Set(names)) : withoutLabels(labels, new Set(names));
  for (const name of include) labels = withLabel(labels, name, labelValue(one, name));
  return labels;
}

/** Results of the held side alone, the other one's value filled in. */
function addUnmatched(
  groups: Iterable<Group>,
  node: BinaryExpression,
  matching: VectorMatching,
  combination: Combination,
  merged: MergedSeries,
): void {
  const signature = signatureOf(matching);
  for (const { members, seen } of groups) {
    for (const one of members) {
      const steps = unmatchedSteps(one, seen, combination);
      if (steps === undefined) continue;
      let labels = signature(one.labels);
      for (const name of matching.include) labels = withLabel(labels, name, labelValue(one.labels, name));
      merged.add({ labels, dropsName: node.returnsBool || one.dropsName, ...steps });
    }
  }
}
