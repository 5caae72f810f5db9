/**
 * Which attributes of a resource and of a scope become labels (contract ingest.md 4.2).
 */
import type { ProtoReader } from "../../../format/proto/reader.ts";
import { type AnyValue, type Attributes, Kind } from "../any-value.ts";
import type { Scope } from "../scope.ts";
import { textOf } from "../text.ts";
import { labelName, type Strategy } from "./names.ts";

/** Choice of labels and names of a request. */
export interface MetricLabelOptions {
  readonly strategy: Strategy;
  /** All attributes of resources, but for those in `ignored`. */
  readonly promoteAll: boolean;
  readonly ignored: ReadonlySet<string>;
  /** Attributes of resources kept besides the default ones; used without `promoteAll`. */
  readonly promoted: ReadonlySet<string>;
  readonly promoteScope: boolean;
}

const K8S = ["cluster", "container", "cronjob", "daemonset", "deployment", "job", "namespace", "pod", "replicaset", "statefulset"];
const DEFAULT_PROMOTED: ReadonlySet<string> = new Set([
  "service.instance.id",
  "service.name",
  "service.namespace",
  "service.version",
  "cloud.availability_zone",
  "cloud.region",
  "container.name",
  "deployment.environment",
  "deployment.environment.name",
  ...K8S.map((object) => `k8s.${object}.name`),
]);

/** Labels by name. */
export type Labels = Map<string, string>;

/** Adds the labels of a list of attributes; values that are no text, number are left out. @throws ProtoError */
export function addAttributes(
  labels: Labels,
  reader: ProtoReader,
  list: Attributes,
  value: AnyValue,
  strategy: Strategy,
  prefix = "",
  keeps?: (key: string) => boolean,
): void {
  for (let i = 0; i < list.count; i++) {
    const key = list.key(reader.bytes, i);
    if (keeps !== undefined && !keeps(key)) continue;
    const text = textOfValue(reader, list, i, value);
    if (text !== undefined) labels.set(labelName(prefix + key, strategy), text);
  }
}

function textOfValue(reader: ProtoReader, list: Attributes, index: number, value: AnyValue): string | undefined {
  list.value(reader, index, value);
  switch (value.kind) {
    case Kind.string:
      return textOf(reader.bytes, value.start, value.end);
    case Kind.int:
      return String(value.int);
    case Kind.double:
      return String(value.number);
    default:
      return undefined;
  }
}

/** The labels of a resource. @throws ProtoError */
export function resourceLabels(reader: ProtoReader, { attributes }: Scope, value: AnyValue, options: MetricLabelOptions): Labels {
  const labels: Labels = new Map();
  const keeps = (key: string): boolean =>
    options.promoteAll ? !options.ignored.has(key) : DEFAULT_PROMOTED.has(key) || options.promoted.has(key);
  addAttributes(labels, reader, attributes, value, options.strategy, "", keeps);
  for (let i = 0; i < attributes.count; i++) {
    const key = attributes.key(reader.bytes, i);
    const label = key === "service.name" ? "job" : key === "service.instance.id" ? "instance" : undefined;
    const text = label === undefined ? undefined : textOfValue(reader, attributes, i, value);
    if (label !== undefined && text !== undefined) labels.set(label, text);
  }
  return labels;
}

/** Adds the labels of a scope. @throws ProtoError */
export function addScope(labels: Labels, reader: ProtoReader, scope: Scope, value: AnyValue, { strategy }: MetricLabelOptions): void {
  addAttributes(labels, reader, scope.attributes, value, strategy, "otel_scope_");
  const { bytes } = reader;
  labels.set("otel_scope_name", textOf(bytes, scope.nameStart, scope.nameEnd));
  labels.set("otel_scope_version", textOf(bytes, scope.versionStart, scope.versionEnd));
  labels.set("otel_scope_schema_url", textOf(bytes, scope.urlStart, scope.urlEnd));
}
