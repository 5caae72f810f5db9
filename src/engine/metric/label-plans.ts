/**
 * What is known of the label sets of one shape (table and names): the code of the table, and the labels by column id. Found out for the
 * first series of a shape; valid for one registry, until a table's name means another table.
 */
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { TagShape } from "../../table/series-dictionary.ts";

/** See the file header. */
export interface LabelPlan {
  readonly registry: SeriesRegistry;
  readonly epoch: number;
  /** Code of the logical table's id in the registry. */
  readonly tableCode: number;
  readonly columnIds: readonly number[];
  /** By ascending column id: index of the name in the shape. */
  readonly order: readonly number[];
  /** By ascending column id: the id in base 36 and a colon. */
  readonly heads: readonly Uint8Array[];
}

const encoder = new TextEncoder();

/** Plans of shapes, for as long as somebody has the shape. */
export class LabelPlans {
  private readonly plans: WeakMap<TagShape, LabelPlan> = new WeakMap();

  /** The plan of a shape, if one holds that was made for the registry in the same epoch. */
  find(shape: TagShape, registry: SeriesRegistry | undefined, epoch: number): LabelPlan | undefined {
    const plan = this.plans.get(shape);
    return plan !== undefined && plan.registry === registry && plan.epoch === epoch ? plan : undefined;
  }

  /** Keeps what `plan` says. */
  keep(shape: TagShape, plan: LabelPlan): void {
    this.plans.set(shape, plan);
  }
}

/** The plan of names whose column ids are given. */
export function labelPlanOf(registry: SeriesRegistry, epoch: number, tableId: string, idsOfNames: readonly number[]): LabelPlan {
  const order = idsOfNames.map((_, i) => i).sort((a, b) => (idsOfNames[a] as number) - (idsOfNames[b] as number));
  const columnIds = order.map((i) => idsOfNames[i] as number);
  const heads = columnIds.map((id) => encoder.encode(`${id.toString(36)}:`));
  return { registry, epoch, tableCode: registry.encode(0, tableId), columnIds, order, heads };
}
