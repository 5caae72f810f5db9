/**
 * Which labels series have, as paths in a tree: a label name is a step, known by the number that its text has in the decoder. Series whose
 * labels have the same names end at one node, and share what is known of them: that the names are right, and the shape of each metric.
 *
 *   root ─ __name__ ─ instance ─ job            node: names [instance, job], shapes by metric
 *                   └ device ─ instance ─ job
 *
 * Only usual series have a shape: valid names, none twice, no label that names a database, and a metric that may be a table. The others are
 * looked at label by label (`label-set.ts`), which also finds the words to refuse them with.
 */
import { isName } from "../../table/names.ts";
import type { TagShape } from "../../table/series-dictionary.ts";
import { isPlace, METRIC } from "./label-set.ts";
import { LABEL_NODES_MAX } from "./limits.ts";
import type { RemoteWriteOptions } from "./types.ts";

/** One path. */
export interface LabelNode {
  /** Whether the last step is the metric's name. */
  readonly isMetric: boolean;
  /** Names of the tags on the path. All series that end here share the array. */
  readonly names: readonly string[];
  /** False: series that come this way are not usual. */
  readonly isUsual: boolean;
  readonly hasMetric: boolean;
  readonly children: Map<number, LabelNode>;
  /** By number of the metric; undefined for one that may not be a table. */
  readonly shapes: Map<number, TagShape | undefined>;
}

/** Bytes of a node and of a shape, with their places in maps, roughly. */
const NODE_BYTES = 400;
const SHAPE_BYTES = 100;

/** See the file header. Bounded: at most LABEL_NODES_MAX nodes, and a shape a series. */
export class LabelShapes {
  private readonly options: RemoteWriteOptions;
  private rootNow: LabelNode = nodeOf([], false, false, true);
  private nodes = 1;
  private shapes = 0;

  constructor(options: RemoteWriteOptions) {
    this.options = options;
  }

  get memoryBytes(): number {
    return this.nodes * NODE_BYTES + this.shapes * SHAPE_BYTES;
  }

  /** Where every path begins. */
  get root(): LabelNode {
    return this.rootNow;
  }

  /** Forgets everything. */
  clear(): void {
    this.rootNow = nodeOf([], false, false, true);
    this.nodes = 1;
    this.shapes = 0;
  }

  /** The node after another label, whose name has a number; undefined when there is no room for another node. */
  step(node: LabelNode, number: number, name: string): LabelNode | undefined {
    if (this.nodes >= LABEL_NODES_MAX) return undefined;
    const isMetric = name === METRIC;
    const { timeColumn, valueColumn } = this.options;
    const isTwice = isMetric ? node.hasMetric : node.names.includes(name);
    const isColumn = name === timeColumn || name === valueColumn;
    const isLabel = isName(name);
    const isUsual = node.isUsual && !isTwice && !isColumn && isLabel && !isPlace(name);
    const made = nodeOf(isMetric ? node.names : [...node.names, name], isMetric, node.hasMetric || isMetric, isUsual);
    node.children.set(number, made);
    this.nodes++;
    return made;
  }

  /** The shape of a metric's series that end at a node. `text` gives the metric's name. */
  shapeAt(node: LabelNode, metric: number, text: (number: number) => string): TagShape | undefined {
    const known = node.shapes.get(metric);
    if (known !== undefined || node.shapes.has(metric)) return known;
    const table = text(metric);
    const shape = this.options.acceptsTable(table) ? { table, names: node.names } : undefined;
    node.shapes.set(metric, shape);
    this.shapes++;
    return shape;
  }
}

function nodeOf(names: readonly string[], isMetric: boolean, hasMetric: boolean, isUsual: boolean): LabelNode {
  return { isMetric, names, isUsual, hasMetric, children: new Map(), shapes: new Map() };
}
