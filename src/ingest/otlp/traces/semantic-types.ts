/**
 * Types of attributes that the semantic conventions settle, whatever is sent (contract ingest.md 4.3).
 */
import { type DataType, INT64, STRING } from "../../../column/data-type.ts";

const RESOURCE_TEXTS = `service.name service.namespace service.version service.instance.id telemetry.sdk.language telemetry.sdk.name
  telemetry.sdk.version container.id user_agent.original k8s.container.name k8s.namespace.name k8s.pod.hostname k8s.pod.ip
  k8s.pod.start_time`;
const K8S_OBJECTS = "cluster cronjob daemonset deployment job node pod replicaset statefulset";
const SPAN_TEXTS = `client.address server.address network.local.address network.peer.address network.protocol.name network.protocol.version
  network.transport network.type http.request.method http.request.method_original http.route url.full url.path url.query url.scheme
  user_agent.original rpc.method rpc.system rpc.system.name rpc.method_original rpc.response.status_code db.collection.name db.namespace
  db.operation.name db.query.summary db.query.text db.response.status_code db.stored_procedure.name db.system.name error.type`;
const RESOURCE_INTEGERS = "k8s.container.restart_count";
const SPAN_INTEGERS = `client.port server.port network.local.port network.peer.port http.request.resend_count http.response.status_code
  db.operation.batch.size`;

function entries(prefix: string, names: string, type: DataType): [string, DataType][] {
  return names.split(/\s+/).map((name) => [`${prefix}${name}`, type]);
}

/** Types by column name. */
export const SEMANTIC_TYPES: ReadonlyMap<string, DataType> = new Map([
  ...entries("resource_attributes.", RESOURCE_TEXTS, STRING),
  ...K8S_OBJECTS.split(" ").flatMap((object) => entries("resource_attributes.k8s.", `${object}.name ${object}.uid`, STRING)),
  ...entries("span_attributes.", SPAN_TEXTS, STRING),
  ...entries("resource_attributes.", RESOURCE_INTEGERS, INT64),
  ...entries("span_attributes.", SPAN_INTEGERS, INT64),
]);
