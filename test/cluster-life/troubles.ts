/** What goes wrong in a random life, each thing beside whatever is done meanwhile. */
import { pick } from "../engine/random-table.ts";
import { ROUGH } from "../support/cluster/chaos.ts";
import type { HandOver } from "../support/cluster/cluster-machine.ts";
import { NO_FAULTS } from "../support/cluster/memory-cluster.ts";
import type { LifeState } from "./life-state.ts";

const LEASE_MILLIS_MAX = 5000;
const HAND_OVERS: readonly HandOver[] = ["flushed", "flushed", "plain", "taken"];
/** How long opening a shard takes, about, where the port is slow. */
const OPEN_MILLIS = 20_000;

/** What a life may meet. */
export interface Weather {
  /** Whether the port fails at times: else only processes die and shards move. */
  readonly isRough: boolean;
  /** Whether frontends die: those of a session do not see what another one was acknowledged. */
  readonly losesFrontends: boolean;
}

/** Begins something that goes wrong. Resolves when it is over, but for what of it is felt later. */
export async function trouble(life: LifeState, weather: Weather): Promise<void> {
  const steps = [moveShard, moveShard, killNode, killNode];
  if (weather.losesFrontends) steps.push(loseFrontend);
  if (weather.isRough) steps.push(elect, cutOff, standStill, changeRates, changeRates);
  await pick(life.random, steps)(life);
}

async function moveShard(life: LifeState): Promise<void> {
  const { random, machine } = life;
  if (machine.nodes.length === 0) return; // All are being replaced.
  const to = pick(random, machine.nodes);
  const how = pick(random, HAND_OVERS);
  life.trouble(OPEN_MILLIS);
  await machine.moveShard(random.below(machine.shards), to, how);
}

async function killNode(life: LifeState): Promise<void> {
  const { random, machine } = life;
  if (machine.nodes.length === 0) return; // All are being replaced.
  const leaseMillis = random.below(LEASE_MILLIS_MAX);
  life.trouble(leaseMillis + OPEN_MILLIS);
  const node = pick(random, machine.nodes);
  await machine.killNode(node, leaseMillis);
}

async function loseFrontend(life: LifeState): Promise<void> {
  life.trouble(0);
  if (life.machine.frontends.length === 0) return; // The only one is being replaced.
  await life.machine.replaceFrontend(pick(life.random, life.machine.frontends));
}

async function elect(life: LifeState): Promise<void> {
  const { random, machine } = life;
  const millis = 500 + random.below(9000);
  life.trouble(millis);
  machine.cluster.elect(millis);
}

function process(life: LifeState): string {
  const all = [...life.machine.nodes, ...life.machine.frontends];
  return all.length === 0 ? "nobody" : pick(life.random, all).name;
}

async function cutOff(life: LifeState): Promise<void> {
  const millis = 500 + life.random.below(15_000);
  life.trouble(millis);
  life.machine.cluster.cut(process(life), millis);
}

async function standStill(life: LifeState): Promise<void> {
  const millis = 500 + life.random.below(10_000);
  life.trouble(millis);
  life.machine.cluster.stop(process(life), millis);
}

async function changeRates(life: LifeState): Promise<void> {
  const { cluster } = life.machine;
  life.trouble(0);
  cluster.rates = cluster.rates === NO_FAULTS ? ROUGH : NO_FAULTS;
}
