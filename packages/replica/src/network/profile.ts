// The network's slowness in numbers, each with where it is from. Files of github.com/dfinity/ic,
// unless another repository is named; lengths of time that no source fixes are those that the
// documentation promises ("query calls about 100 milliseconds … update calls about 2 seconds",
// internetcomputer.org/docs/building-apps/best-practices/troubleshooting; "1–2 s" and "200–400 ms",
// …/interact-with-canisters/update-calls).

/** All lengths of time in milliseconds, but where a name says otherwise. */
export interface NetworkProfile {
  /** Between two blocks. */
  readonly roundMs: number;
  /** How much earlier or later than that a block may come. */
  readonly roundJitterMs: number;
  /** From the block's making to its execution: notarization and finalization. */
  readonly finalizationMs: number;
  /** From the end of a round's execution until its state is certified. */
  readonly certificationMs: number;
  /** The most bytes of ingress messages in one block. */
  readonly blockBytesMax: number;
  readonly blockMessagesMax: number;
  /** Instructions that one canister executes in a second. */
  readonly instructionsPerSecond: number;
  /** The time to a node and back: least and most. */
  readonly latencyMs: readonly [least: number, most: number];
  /** Update calls to a subnet through one boundary node. */
  readonly updates: RateLimit;
  /** Requests of one address to the agent endpoints; beyond it the address is shut out. */
  readonly requests: RateLimit & { readonly banMs: number };
  /** The answers that the HTTP gateway keeps. */
  readonly cache: CacheSettings;
  /** How long clients may take. */
  readonly clientTimes: ClientTimes;
}

/** The time that the doors give a client, in milliseconds. */
export interface ClientTimes {
  /** For the body of a request to the HTTP gateway. */
  readonly bodyMs: number;
  /** For the body of a request to the agent endpoints. */
  readonly apiBodyMs: number;
  /** For the next bytes of an answer: a client that takes none for so long is cut off. */
  readonly writeStallMs: number;
}

export interface RateLimit {
  readonly perSecond: number;
  /** As many may come at once. */
  readonly burst: number;
}

export interface CacheSettings {
  /** For answers whose Cache-Control says nothing of it. */
  readonly ttlMs: number;
  /** The longest time that Cache-Control may name. */
  readonly ttlMsMax: number;
  readonly itemBytesMax: number;
  /** The most bytes of all answers together. */
  readonly bytesMax: number;
  /** How long a request waits for another one of the same that is under way. */
  readonly lockMs: number;
  /** Above 0, answers are asked for anew some time before they are due: the slower, the earlier. */
  readonly earliness: number;
}

const mebibyte = 1_048_576;

/** An application subnet of 13 nodes, its boundary nodes and HTTP gateways. */
export const mainnetProfile: NetworkProfile = {
  // rs/limits/src/lib.rs: "assuming a block rate of 1 block per second"; a block's maker of the
  // second rank waits UNIT_DELAY_APP_SUBNET, 1 s.
  roundMs: 1_000,
  roundJitterMs: 150,
  // rs/limits/src/lib.rs, INITIAL_NOTARY_DELAY: 300 ms; and as much for the shares of both steps.
  finalizationMs: 600,
  // The documentation's two seconds are half a round of waiting, latency, and this.
  certificationMs: 500,
  // rs/limits/src/lib.rs, MAX_INGRESS_BYTES_PER_BLOCK and MAX_INGRESS_MESSAGES_PER_BLOCK.
  blockBytesMax: 4 * mebibyte,
  blockMessagesMax: 1_000,
  // rs/config/src/subnet_config.rs, MAX_INSTRUCTIONS_PER_SLICE: 2 B, "approximately 1 second"; a
  // canister has one thread, and of long messages one slice a round.
  instructionsPerSecond: 2_000_000_000,
  latencyMs: [150, 250],
  // rs/orchestrator/src/boundary_node.rs: --rate-limit-per-second-per-subnet=1000, a bucket of as
  // many (rs/boundary_node/ic_boundary/src/rate_limiting/mod.rs).
  updates: { perSecond: 1_000, burst: 1_000 },
  // The same: --bouncer-ratelimit=600 --bouncer-burst-size=1200 --bouncer-ban-seconds=300.
  requests: { perSecond: 600, burst: 1_200, banMs: 300_000 },
  // ic-os/components/boundary-guestos/opt/ic/bin/setup-ic-gateway.sh: CACHE_TTL 10s,
  // CACHE_MAX_ITEM_SIZE 20MB, CACHE_LOCK_TIMEOUT 10s, CACHE_XFETCH_BETA 3.0; dfinity/ic-gateway,
  // src/cli.rs: cache_max_ttl 1d. Of its 2 GB a developer's machine gives less.
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

/** Throws an Error that names those there are. */
export function profileOf(profile: string | NetworkProfile): NetworkProfile {
  if (typeof profile !== 'string') return profile;
  const known = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (known !== undefined) return known;
  const names = Object.keys(profiles).join(', ');
  throw new Error(`The network profile "${profile}" does not exist; use one of: ${names}.`);
}
