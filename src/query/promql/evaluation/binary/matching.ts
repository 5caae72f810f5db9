/**
 * Operators between two instant vectors. The side of which one series may match is held, by its matching labels; the other streams through.
 */
import type { BinaryExpression, VectorMatching } from "../../syntax/ast.ts";
import { BINARY_OPERATORS } from "../../syntax/operators.ts";
import { bytesOfHistograms } from "../histogram/bytes.ts";
import { ALL_LABELS, ByLabels, type LabelChoice } from "../by-labels.ts";
import { unitePresent } from "../kernels/steps.ts";
import { compareLabels, labelsText, labelValue, METRIC_NAME, onlyLabels, withLabel, withoutLabels, withoutName } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import {
  evaluationError,
  isTurnDue,
  type Scope,
  seriesBytes,
  type StepVector,
  type StepVectorMaker,
  takeTurn,
  together,
} from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { addMember, isMatchedTwice, matchSteps, meetsMark, type OneSide, ownersOf, unmatchedSteps } from "./kernels/matched.ts";
import { numberOperator } from "./kernels/operators.ts";
import { fillingSteps, hasHistograms, matchedSteps, type VectorOperation } from "./mixed-steps.ts";
import { sampleOperation } from "./sample-operators.ts";

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
export function choiceOf(matching: VectorMatching | undefined): LabelChoice {
  const { labels: names, isOn } = matching ?? PLAIN;
  return { names: new Set(isOn ? names : [...names, METRIC_NAME]), areKept: isOn };
}

/** Those of a series. */
function chosenLabels(labels: Labels, { names, areKept }: LabelChoice): Labels {
  return areKept ? onlyLabels(labels, names) : withoutLabels(labels, names);
}

/** Series that match under one set of labels. */
interface Group extends OneSide {
  /** Steps at which the other side has a value. */
  readonly seen: Uint8Array;
  /** Members that have a step, from 1; 0 where a step has none. Undefined: not asked for yet. */
  owners: readonly number[] | undefined;
}

/** The series of the held side. */
interface Groups {
  readonly byLabels: ByLabels<Group>;
  bytes: number;
  /** Two series with the same matching labels and a value at one step, the first that were found; undefined: there are none. */
  conflict: string | undefined;
  /** Steps at which there are such series. They are an error where the other side has a value at all, or one is filled in. */
  contested: Uint8Array | undefined;
}

/** The series of an operation of two vectors. @throws DbError for several matches where one is allowed, and for memory */
export async function* matchedVectors(node: BinaryExpression, scope: Scope): StepVectorMaker {
  const matching = node.matching ?? PLAIN;
  const { query, moments } = scope;
  const combine = numberOperator(node.operator);
  const ofSamples = sampleOperation(node, query);
  const isManyLeft = matching.cardinality !== "one-to-many";
  const choice = choiceOf(matching);
  const labelsOf = resultLabels(node, matching);
  const filters = BINARY_OPERATORS[node.operator].family === "comparison" && !node.returnsBool;
  // Prometheus fills after it has swapped the sides of `group_right`, so that there `left` is the right one.
  const { fillLeft: fillMany, fillRight: fillOne } = matching;
  const operation: VectorOperation = { combine, ofSamples, filters, isManyLeft, fillMany, fillOne, query };
  const groups = await groupsOf(query.vector(isManyLeft ? node.right : node.left, scope), choice, scope, isManyLeft ? "right" : "left");
  if (fillMany !== undefined || fillOne !== undefined) refuseConflict(groups);
  const merged = new MergedSeries(scope);
  for await (const some of query.vector(isManyLeft ? node.left : node.right, scope)) {
    for (const many of some) {
      if (groups.contested !== undefined && meetsMark(many, groups.contested)) refuseConflict(groups);
      if (isTurnDue(query)) await takeTurn(query);
      const { byLabels } = groups;
      const group = fillOne === undefined ? byLabels.get(many.labels) : byLabels.getOrMake(many.labels, () => newGroup(moments.count));
      if (group === undefined) continue;
      group.owners ??= ownersOf(group);
      for (const id of group.owners) {
        if (id === 0 && fillOne === undefined) continue;
        // Also what a comparison drops has matched.
        if (matching.cardinality === "one-to-one" && isMatchedTwice(many, group, id))
          throw evaluationError("multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)");
        const isPlain = combine !== undefined && !hasHistograms(many) && !hasHistograms(group.members[id - 1]);
        const steps = isPlain ? matchSteps(many, group, id, { ...operation, combine }) : await matchedSteps(many, group, id, operation);
        if (steps === undefined) continue;
        const labels = labelsOf(many.labels, group.members[id - 1]?.labels ?? []);
        merged.add({ labels, dropsName: node.returnsBool || many.dropsName, ...steps });
      }
      unitePresent(group.seen, many.present);
    }
  }
  if (fillMany !== undefined) await addUnmatched(groups.byLabels.all, node, matching, operation, merged);
  yield* together(merged.take(), scope);
  query.run.release(groups.bytes);
}

function newGroup(steps: number): Group {
  return { members: [], owner: new Int32Array(steps), seen: new Uint8Array(steps), used: new Uint8Array(steps), owners: undefined };
}

async function groupsOf(vector: StepVector, choice: LabelChoice, { query, moments }: Scope, side: "left" | "right"): Promise<Groups> {
  const groups: Groups = { byLabels: new ByLabels(choice), bytes: 0, conflict: undefined, contested: undefined };
  const reserve = (bytes: number): void => {
    query.run.reserve(bytes);
    groups.bytes += bytes;
  };
  const contested = (): Uint8Array => {
    if (groups.contested === undefined) {
      reserve(moments.count);
      groups.contested = new Uint8Array(moments.count);
    }
    return groups.contested;
  };
  for await (const some of vector) {
    for (const one of some) {
      if (isTurnDue(query)) await takeTurn(query);
      reserve(seriesBytes(moments.count) + 6 * moments.count + bytesOfHistograms(one.histograms));
      const group = groups.byLabels.getOrMake(one.labels, () => newGroup(moments.count));
      const rival = addMember(group, one, contested);
      if (rival === undefined || groups.conflict !== undefined) continue;
      const twice = [one.labels, group.members[rival]?.labels ?? []].sort(compareLabels).map(labelsText).join(", ");
      const labels = labelsText(chosenLabels(one.labels, choice));
      const what = `found duplicate series for the match group ${labels} on the ${side} hand-side of the operation`;
      groups.conflict = `${what}: [${twice}]`;
    }
  }
  return groups;
}

/** @throws DbError when there is one */
function refuseConflict({ conflict }: Groups): void {
  if (conflict === undefined) return;
  throw evaluationError(`${conflict};many-to-many matching not allowed: matching labels must be unique on one side`);
}

/** The labels of the result of two series. */
function resultLabels({ operator }: BinaryExpression, matching: VectorMatching): (many: Labels, one: Labels) => Labels {
  const { cardinality, labels: names, isOn, include } = matching;
  const dropsName = BINARY_OPERATORS[operator].family === "arithmetic";
  const kept: LabelChoice = cardinality === "one-to-one" ? { names: new Set(names), areKept: isOn } : ALL_LABELS;
  return (many, one) => {
    let labels = chosenLabels(dropsName ? withoutName(many) : many, kept);
    for (const name of include) labels = withLabel(labels, name, labelValue(one, name));
    return labels;
  };
}

/** Results of the held side alone, the other one's value filled in. */
async function addUnmatched(
  groups: Iterable<Group>,
  node: BinaryExpression,
  matching: VectorMatching,
  operation: VectorOperation,
  merged: MergedSeries,
): Promise<void> {
  const choice = choiceOf(matching);
  const { combine } = operation;
  for (const { members, seen } of groups) {
    for (const one of members) {
      const isPlain = combine !== undefined && !hasHistograms(one);
      const steps = isPlain ? unmatchedSteps(one, seen, { ...operation, combine }) : await fillingSteps(one, seen, operation);
      if (steps === undefined) continue;
      let labels = chosenLabels(one.labels, choice);
      for (const name of matching.include) labels = withLabel(labels, name, labelValue(one.labels, name));
      merged.add({ labels, dropsName: node.returnsBool || one.dropsName, ...steps });
    }
  }
}
