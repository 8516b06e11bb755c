// Certificates of a subnet's state. Those of the root subnet have no delegation; for any other
// subnet, the root subnet certifies its key and its range of canister ids. A signature is
// expensive, so there is one per state, not per certificate. IC spec, "Certification".

import { randomBytes } from 'node:crypto';
import type { Principal } from '@dfinity/principal';
import type { DataCertificateSource, Engine } from '../core.ts';
import { rangesOf } from '../subnet-ranges.ts';
import type { SubnetType } from '../subnet-type.ts';
import type { HashTree, Label } from './hash-tree.ts';
import { prune, toArrays } from './hash-tree.ts';
import type { RequestRegistry } from './request-registry.ts';
import { createRequestRegistry } from './request-registry.ts';
import { encodeSelfDescribed } from './self-described-cbor.ts';
import type { SubnetFacts, SubnetTrees } from './state-tree.ts';
import { createStateTree, createSubnetTrees, withTime } from './state-tree.ts';
import type { NodeKey, SubnetKey } from './subnet-key.ts';
import { createNodeKey, createSubnetKey, seedBytes } from './subnet-key.ts';

/** Maximum time that a call waits for others to share one signature. */
const roundMsMax = 100;
const roundStepMs = 4;
/** Age after which an unchanged state is signed again, which keeps its time recent. */
const stateAgeNsMax = 1_000_000_000n;
/** `dfinity/ic` rs/http_endpoints/public/src/lib.rs: nodes request a new delegation each 10 min. */
const delegationAgeNsMax = 600_000_000_000n;
/** Verifiers accept five minutes; one certificate serves all queries of a minute. */
const dataCertificateAgeNsMax = 60_000_000_000n;

type Paths = readonly (readonly Label[])[];

const timePath: readonly Label[] = [Buffer.from('time')];

interface SignedState {
  /** Root of the tree without time, which shows whether the state has changed. */
  readonly stateHash: Uint8Array;
  readonly timeNs: bigint;
  readonly tree: HashTree;
  readonly signature: Uint8Array;
}

interface DataCertificate {
  readonly certifiedData: Uint8Array;
  readonly timeNs: bigint;
  readonly certificate: Uint8Array;
}

/**
 * The path of the canister ids in a delegation: `/subnet/ID/canister_ranges`, or for the newer
 * endpoints (calls of v4, read_state and queries of v3) the tree `/canister_ranges/ID`.
 */
export type RangesForm = 'flat' | 'tree';

export interface Certification {
  /** 32 secret bytes from which both keys follow; the caller stores them between runs. */
  readonly secretSeed: Uint8Array;
  readonly subnetId: Principal;
  readonly facts: SubnetFacts;
  readonly nodeKey: NodeKey;
  readonly requests: RequestRegistry;
  /** The key of the root subnet: DER, 133 bytes. */
  rootKey: () => Uint8Array;
  /**
   * Resolves when the state with all complete calls should be certified: no client waits for a
   * running call, or a round has passed. All waiters of a round share the same state.
   */
  endOfRound(): Promise<void>;
  /** Returns a self-described CBOR certificate that reveals the paths and always the time. */
  certify(paths: Paths, form?: RangesForm): Uint8Array;
  /** Returns the certificate for /canister/ID/certified_data; at most a minute old. */
  dataCertificate: DataCertificateSource;
}

export interface CertificationOptions {
  /** 32 bytes, or undefined for new keys. */
  readonly rootSecret: Uint8Array | undefined;
  /** Called at first use, because engine and certification refer to each other. */
  readonly engine: () => Engine;
  /** Default: the root subnet, which has all canister ids. */
  readonly subnet?: SubnetOfSeveral;
}

interface SubnetOfSeveral {
  /** 0 for the root subnet. */
  readonly number: number;
  /** The facts of all subnets, by number. */
  readonly subnets: readonly SubnetFacts[];
  /** Signs the delegation; absent for the root subnet itself. */
  readonly root?: Certification | undefined;
}

export function createCertification(options: CertificationOptions): Certification {
  const secretSeed = options.rootSecret ?? new Uint8Array(randomBytes(seedBytes));
  if (secretSeed.length !== seedBytes) {
    throw new RangeError(`The root secret has ${secretSeed.length} bytes, not ${seedBytes}`);
  }
  const subnets = options.subnet?.subnets ?? subnetFacts(secretSeed, 0);
  const { number, root }: Omit<SubnetOfSeveral, 'subnets'> = options.subnet ?? { number: 0 };
  const key = createSubnetKey(secretSeed, number);
  const nodeKey = createNodeKey(secretSeed, number);
  const facts = subnets[number];
  if (facts === undefined) throw new RangeError(`Subnet ${number} is not among the subnets`);
  const requests = createRequestRegistry(() => options.engine().now());
  const subnetTrees = createSubnetTrees(subnets, { id: key.subnetId, nodeKey });
  const signedState = createStateSigner({ engine: options.engine, requests, key, subnetTrees });
  const delegate = createDelegations(key.subnetId, root, () => options.engine().now());
  const encode = (state: SignedState, paths: Paths, form: RangesForm = 'flat') =>
    encodeCertificate(state, paths, delegate(form));
  return {
    secretSeed,
    subnetId: key.subnetId,
    facts,
    nodeKey,
    requests,
    rootKey: root?.rootKey ?? (() => key.publicKey),
    endOfRound: createRounds(requests),
    certify: (paths, form) => encode(signedState(), paths, form),
    dataCertificate: createDataCertificates(options.engine, { signedState, encode }),
  };
}

/**
 * Returns the facts of the root subnet and of `count` other subnets of that type, whose keys have
 * one seed.
 */
export function subnetFacts(
  secretSeed: Uint8Array,
  count: number,
  otherType: SubnetType = 'application',
): readonly SubnetFacts[] {
  return Array.from({ length: count + 1 }, (_, number) => {
    const { subnetId: id, publicKey } = createSubnetKey(secretSeed, number);
    const other = otherType === 'cloud-engine' ? 'cloud_engine' : otherType;
    const type = number === 0 ? 'system' : other;
    return { id, publicKey, type, canisterRanges: rangesOf(number, count) };
  });
}

interface Delegation {
  readonly subnet_id: Uint8Array;
  readonly certificate: Uint8Array;
}

/** Returns a function from the form of the ranges to the subnet's delegation by the root subnet. */
function createDelegations(
  subnetId: Principal,
  root: Certification | undefined,
  now: () => bigint,
): (form: RangesForm) => Delegation | undefined {
  if (root === undefined) return () => undefined;
  const known = new Map<RangesForm, { delegation: Delegation; timeNs: bigint }>();
  const id = subnetId.toUint8Array();
  const label = (text: string) => Buffer.from(text);
  const ranges: Record<RangesForm, readonly Label[]> = {
    flat: [label('subnet'), id, label('canister_ranges')],
    tree: [label('canister_ranges'), id],
  };
  return (form) => {
    const found = known.get(form);
    const timeNs = now();
    if (found && isFresh(found.timeNs, timeNs, delegationAgeNsMax)) return found.delegation;
    const certificate = root.certify([[label('subnet'), id, label('public_key')], ranges[form]]);
    const delegation = { subnet_id: id, certificate };
    known.set(form, { delegation, timeNs });
    return delegation;
  };
}

/** Returns the present signed state; signs only a new or outdated one. */
function createStateSigner(parts: {
  readonly engine: () => Engine;
  readonly requests: RequestRegistry;
  readonly key: SubnetKey;
  readonly subnetTrees: SubnetTrees;
}): () => SignedState {
  let signed: SignedState | undefined;
  return () => {
    const engine = parts.engine();
    const stateTree = createStateTree({
      canisters: engine.canisters(),
      requestStatus: parts.requests.tree(),
      subnetTrees: parts.subnetTrees,
    });
    const timeNs = engine.now();
    if (
      signed === undefined ||
      !isFresh(signed.timeNs, timeNs, stateAgeNsMax) ||
      Buffer.compare(signed.stateHash, stateTree.hash) !== 0
    ) {
      const tree = withTime(stateTree, timeNs);
      const signature = parts.key.signStateRoot(tree.hash);
      signed = { stateHash: stateTree.hash, timeNs, tree, signature };
    }
    return signed;
  };
}

function createRounds(requests: RequestRegistry): () => Promise<void> {
  let round: Promise<void> | undefined;
  const pass = async () => {
    const end = performance.now() + roundMsMax;
    await new Promise(setImmediate);
    while (requests.awaited() > 0 && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, roundStepMs));
    }
    round = undefined;
  };
  return () => {
    round ??= pass();
    return round;
  };
}

function encodeCertificate(
  state: SignedState,
  paths: Paths,
  delegation: Delegation | undefined,
): Uint8Array {
  const tree = toArrays(prune(state.tree, [...paths, timePath]));
  const { signature } = state;
  return encodeSelfDescribed({ tree, signature, ...(delegation && { delegation }) });
}

function createDataCertificates(
  engine: () => Engine,
  parts: {
    readonly signedState: () => SignedState;
    readonly encode: (state: SignedState, paths: Paths) => Uint8Array;
  },
): DataCertificateSource {
  const certificates = new Map<string, DataCertificate>();
  return (canisterId) => {
    const name = canisterId.toText();
    const certifiedData = engine().canister(canisterId)?.certifiedData ?? new Uint8Array();
    const known = certificates.get(name);
    if (
      known !== undefined &&
      isFresh(known.timeNs, engine().now(), dataCertificateAgeNsMax) &&
      Buffer.compare(known.certifiedData, certifiedData) === 0
    ) {
      return known.certificate;
    }
    const id = canisterId.toUint8Array();
    const path = [Buffer.from('canister'), id, Buffer.from('certified_data')];
    const state = parts.signedState();
    const certificate = parts.encode(state, [path]);
    const { timeNs } = state;
    certificates.set(name, { certifiedData: certifiedData.slice(), timeNs, certificate });
    return certificate;
  };
}

/** A clock that was set back makes everything outdated. */
function isFresh(timeNs: bigint, nowNs: bigint, ageNsMax: bigint): boolean {
  return timeNs <= nowNs && nowNs - timeNs <= ageNsMax;
}
