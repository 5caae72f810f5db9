/** The tag sets of the hosts: each host keeps its own, region and datacenter agree. */
import { type Dataset, TABLE, TAGS } from "./dataset.ts";
import { type Random, seededRandom } from "./random.ts";

/** Regions of the cloud that the hosts pretend to stand in, with the letters of their datacenters. */
const REGIONS: readonly (readonly [name: string, zones: string])[] = [
  ["us-east-1", "abce"],
  ["us-west-1", "ab"],
  ["us-west-2", "abc"],
  ["eu-west-1", "abc"],
  ["eu-central-1", "ab"],
  ["ap-southeast-1", "ab"],
  ["ap-southeast-2", "ab"],
  ["ap-northeast-1", "ac"],
  ["sa-east-1", "abc"],
];

const RACKS = 100;
const SERVICES = 20;
const SERVICE_VERSIONS = 2;
const SYSTEMS: readonly string[] = ["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"];
const ARCHITECTURES: readonly string[] = ["x64", "x86"];
const TEAMS: readonly string[] = ["SF", "NYC", "LON", "CHI"];
const ENVIRONMENTS: readonly string[] = ["production", "staging", "test"];

/** The tag values of every host; the inner array follows `TAGS`. */
export function hostTags(dataset: Dataset): readonly (readonly string[])[] {
  const random = seededRandom(dataset.seed);
  return Array.from({ length: dataset.hosts }, (_, host) => {
    const [region, zones] = pick(random, REGIONS);
    return [
      `host_${host}`,
      region,
      `${region}${zones[random.below(zones.length)]}`,
      String(random.below(RACKS)),
      pick(random, SYSTEMS),
      pick(random, ARCHITECTURES),
      pick(random, TEAMS),
      String(random.below(SERVICES)),
      String(random.below(SERVICE_VERSIONS)),
      pick(random, ENVIRONMENTS),
    ];
  });
}

/** The start of a host's lines, up to the space before the fields: `cpu,hostname=host_0,…`. No value needs an escape. */
export function linePrefix(values: readonly string[]): string {
  return `${TABLE},${TAGS.map((tag, i) => `${tag}=${values[i]}`).join(",")}`;
}

function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new RangeError("cannot pick from nothing");
  return value;
}
