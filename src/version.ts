import manifest from "../package.json" with { type: "json" };

/** Version of this server, as in package.json. */
export const VERSION: string = manifest.version;
