// The figures of a slow network, each with its source. Files are in github.com/dfinity/ic unless
// another repository is named. Durations without a source follow the documentation ("query calls
// about 100 milliseconds … update calls about 2 seconds",
// internetcomputer.org/docs/building-apps/best-practices/troubleshooting; "1–2 s" and "200–400 ms",
// …/interact-with-canisters/update-calls).

/** All durations are milliseconds unless a name says otherwise. */
export interface NetworkProfile {
  /** Between two blocks. */
  readonly roundMs: number;
  /** Maximum deviation of a block's time. */
  readonly roundJitterMs: number;
  /** From the creation of a block to its execution: notarization and finalization. */
  readonly finalizationMs: number;
  /** From the end of a round's execution to the certification of its state. */
  readonly certificationMs: number;
  /** Maximum bytes of ingress messages in one block. */
  readonly blockBytesMax: number;
  readonly blockMessagesMax: number;
  /** Ingress messages that wait for a block; beyond them, further ones are refused. */
  readonly poolBytesMax: number;
  readonly poolMessagesMax: number;
  /** Instructions that one canister executes per second. */
  readonly instructionsPerSecond: number;
  /** Round trip to a node: minimum and maximum. */
  readonly latencyMs: readonly [least: number, most: number];
  /** Update calls to a subnet through one boundary node. */
  readonly updates: RateLimit;
  /** Requests of one address to the agent endpoints; beyond the limit the address is banned. */
  readonly requests: RateLimit & { readonly banMs: number };
  /** The response cache of the HTTP gateway. */
  readonly cache: CacheSettings;
  /** Time limits for clients. */
  readonly clientTimes: ClientTimes;
}

/** Time limits for clients, in milliseconds. */
export interface ClientTimes {
  /** For the body of a request to the HTTP gateway. */
  readonly bodyMs: number;
  /** For the body of a request to the agent endpoints. */
  readonly apiBodyMs: number;
  /** For the next bytes of a response; a client that reads nothing for this time is cut off. */
  readonly writeStallMs: number;
}

export interface RateLimit {
  readonly perSecond: number;
  /** Maximum number at once. */
  readonly burst: number;
}

export interface CacheSettings {
  /** For responses whose Cache-Control has no lifetime. */
  readonly ttlMs: number;
  /** Maximum lifetime in Cache-Control. */
  readonly ttlMsMax: number;
  readonly itemBytesMax: number;
  /** Maximum bytes of all responses together. */
  readonly bytesMax: number;
  /** Time for which a request waits for a concurrent equal one. */
  readonly lockMs: number;
  /** Above 0, requests responses again before they expire; the slower they were, the earlier. */
  readonly earliness: number;
}

const mebibyte = 1_048_576;

/** An application subnet of 13 nodes, its boundary nodes and HTTP gateways. */
export const mainnetProfile: NetworkProfile = {
  // rs/limits/src/lib.rs: "assuming a block rate of 1 block per second"; a block maker of the
  // second rank waits UNIT_DELAY_APP_SUBNET, 1 s.
  roundMs: 1_000,
  roundJitterMs: 150,
  // rs/limits/src/lib.rs, INITIAL_NOTARY_DELAY: 300 ms, and as long again for the exchange of
  // signature shares.
  finalizationMs: 600,
  // The documented two seconds consist of half a round of waiting, the latency, and this time.
  certificationMs: 500,
  // rs/limits/src/lib.rs, MAX_INGRESS_BYTES_PER_BLOCK and MAX_INGRESS_MESSAGES_PER_BLOCK.
  blockBytesMax: 4 * mebibyte,
  blockMessagesMax: 1_000,
  // ic-os: ic.json5.template, artifact_pool: ingress_pool_max_bytes, ingress_pool_max_count.
  poolBytesMax: 100_000_000,
  poolMessagesMax: 10_000,
  // rs/config/src/subnet_config.rs, MAX_INSTRUCTIONS_PER_SLICE: 2 B, "approximately 1 second"; a
  // canister has one thread, and long messages run one slice per round.
  instructionsPerSecond: 2_000_000_000,
  latencyMs: [150, 250],
  // rs/orchestrator/src/boundary_node.rs: --rate-limit-per-second-per-subnet=1000, with a bucket of
  // the same size (rs/boundary_node/ic_boundary/src/rate_limiting/mod.rs).
  updates: { perSecond: 1_000, burst: 1_000 },
  // The same: --bouncer-ratelimit=600 --bouncer-burst-size=1200 --bouncer-ban-seconds=300.
  requests: { perSecond: 600, burst: 1_200, banMs: 300_000 },
  // ic-os/components/boundary-guestos/opt/ic/bin/setup-ic-gateway.sh: CACHE_TTL 10s,
  // CACHE_MAX_ITEM_SIZE 20MB, CACHE_LOCK_TIMEOUT 10s, CACHE_XFETCH_BETA 3.0; dfinity/ic-gateway,
  // src/cli.rs: cache_max_ttl 1d. The total is less than its 2 GB, for a developer's machine.
  cache: {
    ttlMs: 10_000,
    ttlMsMax: 86_400_000,
    itemBytesMax: 20_000_000,
    bytesMax: 200_000_000,
    lockMs: 10_000,
    earliness: 3,
  },
  // dfinity/ic-gateway, src/cli.rs: --ic-request-body-timeout=30s, "used by the API proxy"; its
  // HTTP server (dfinity/ic-bn-lib, src/http/server/cli.rs): --http-server-body-read-timeout=60s,
  // --http-server-write-timeout=30s.
  clientTimes: { bodyMs: 60_000, apiBodyMs: 30_000, writeStallMs: 30_000 },
};

const profiles: Readonly<Record<string, NetworkProfile>> = { mainnet: mainnetProfile };

/** Throws an Error that lists the profiles. */
export function profileOf(profile: string | NetworkProfile): NetworkProfile {
  if (typeof profile !== 'string') return profile;
  const known = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (known !== undefined) return known;
  const names = Object.keys(profiles).join(', ');
  throw new Error(`The network profile "${profile}" does not exist; use one of: ${names}.`);
}
