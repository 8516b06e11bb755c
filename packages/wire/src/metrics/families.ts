// The metrics of a service: names, descriptions, and the figure that each reports. `GET /metrics`
// of a canister and `efs serve metrics` use the same table, so that one dashboard serves both.
// docs/how-to/monitor.md lists them, and says which of them a single node could claim.

import { daysLeft, limitOf } from './room.ts';
import type { Family, Sample } from './text.ts';

export interface BudgetFigures {
  readonly left: number;
  readonly burst: number;
  readonly perMinute: number;
}

/** Figures that the canister reports of itself. */
export interface StatusFigures {
  readonly version: string;
  readonly buckets: number;
  readonly files: number;
  readonly bytesStored: number;
  readonly stableBytes: number;
  readonly heapBytes: number;
  readonly cycles?: number | undefined;
  readonly chargesCycles?: boolean | undefined;
  readonly storageReservation?:
    | { readonly reservedCycles: number; readonly limitCycles: number }
    | undefined;
  readonly anonymousUpdates?: BudgetFigures | undefined;
  readonly linkUpdates?: BudgetFigures | undefined;
  readonly refusals?: BudgetFigures | undefined;
  readonly derivations?: BudgetFigures | undefined;
  readonly encryption: { readonly isKeyPresent: boolean; readonly isRotating: boolean };
}

export interface BucketFigures {
  readonly id: string;
  readonly fileCount: number;
  readonly byteCount: number;
  readonly overheadBytes: number;
  readonly versionCount: number;
  readonly versionBytes: number;
  readonly openUploads: number;
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
  /** Numbers of subscriptions to the bucket's entries. */
  readonly subscriptions?:
    | { readonly all: number; readonly waiting: number; readonly failing: number }
    | undefined;
}

export interface CanisterFigures {
  readonly canisterId: string;
  readonly role: 'front' | 'volume' | 'canister';
  /** Undefined if the canister does not answer. */
  readonly status: StatusFigures | undefined;
  /** From a certificate of the network. */
  readonly code?:
    | { readonly version: string | undefined; readonly moduleHash: string | undefined }
    | undefined;
  /** The network's own figures, which only controllers see. */
  readonly state?:
    | {
        readonly cycles: number;
        readonly cyclesPerDay: number;
        readonly reservedCycles: number;
        readonly reservedCyclesLimit: number;
      }
    | undefined;
  /** The front's record of a volume. */
  readonly volume?:
    | {
        readonly state: string;
        readonly limitBytes: number;
        readonly reportedAt?: string | undefined;
      }
    | undefined;
  readonly buckets: readonly BucketFigures[];
  /** Whether the identity may see more buckets than are reported; undefined for an API key. */
  readonly hasMoreBuckets?: boolean | undefined;
}

/** A metric with one sample for each canister or bucket that has the figure. */
interface Row<Facts> {
  readonly name: string;
  readonly help: string;
  readonly value: (facts: Facts) => number | boolean | undefined;
}

const daySeconds = 86_400;

const canisterRows: readonly Row<CanisterFigures>[] = [
  {
    name: 'efs_up',
    help: 'Whether the canister answers.',
    value: ({ status }) => status !== undefined,
  },
  {
    name: 'efs_buckets',
    help: 'Buckets of the canister.',
    value: ({ status }) => status?.buckets,
  },
  {
    name: 'efs_files',
    help: 'Files of all buckets.',
    value: ({ status }) => status?.files,
  },
  {
    name: 'efs_stored_bytes',
    help: 'Bytes of all files.',
    value: ({ status }) => status?.bytesStored,
  },
  {
    name: 'efs_stable_memory_bytes',
    help: 'Stable memory, which holds files and records.',
    value: ({ status }) => status?.stableBytes,
  },
  {
    name: 'efs_stable_memory_limit_bytes',
    help: 'Room for stable memory: of the network, or of the volume. Absent on a cloud engine.',
    value: ({ role, status, volume }) =>
      role === 'front' || (role === 'volume' && volume === undefined) || status === undefined
        ? undefined
        : limitOf(status, volume),
  },
  {
    name: 'efs_heap_memory_bytes',
    help: 'Memory of the program while it runs.',
    value: ({ status }) => status?.heapBytes,
  },
  {
    name: 'efs_charges_cycles',
    help: 'Whether the subnet charges cycles; on a cloud engine it does not.',
    value: ({ status }) => status?.chargesCycles,
  },
  {
    name: 'efs_balance_cycles',
    help: 'Cycles of the canister, for controllers and owners of buckets.',
    value: ({ status, state }) => state?.cycles ?? status?.cycles,
  },
  {
    name: 'efs_balance_seconds',
    help: 'Time for which the cycles pay for the memory. Absent where nothing is charged.',
    value: secondsLeft,
  },
  {
    name: 'efs_reserved_cycles',
    help: 'Cycles that the network keeps for growth, because the subnet has little room.',
    value: ({ status, state }) =>
      state?.reservedCycles ?? status?.storageReservation?.reservedCycles,
  },
  {
    name: 'efs_reserved_limit_cycles',
    help: 'Reserved cycles beyond which the canister cannot grow.',
    value: ({ status, state }) =>
      state?.reservedCyclesLimit ?? status?.storageReservation?.limitCycles,
  },
  {
    name: 'efs_root_key_present',
    help: 'Whether the canister has its root key; without it no file can be read.',
    value: ({ status, role }) => (role === 'front' ? undefined : status?.encryption.isKeyPresent),
  },
  {
    name: 'efs_rotation_running',
    help: 'Whether keys are being rotated.',
    value: ({ status, role }) => (role === 'front' ? undefined : status?.encryption.isRotating),
  },
  {
    name: 'efs_volume_report_timestamp_seconds',
    help: "Time of the volume's last report to the front.",
    value: ({ volume }) =>
      volume?.reportedAt === undefined ? undefined : Date.parse(volume.reportedAt) / 1_000,
  },
  {
    name: 'efs_buckets_incomplete',
    help: 'Whether there are more buckets than the 1,000 that are reported.',
    value: ({ hasMoreBuckets }) => hasMoreBuckets,
  },
];

function secondsLeft({ status, state }: CanisterFigures): number | undefined {
  if (state !== undefined) {
    const { cycles, cyclesPerDay } = state;
    return cyclesPerDay === 0 ? undefined : Math.floor((cycles / cyclesPerDay) * daySeconds);
  }
  const days = status && daysLeft(status);
  return days === undefined ? undefined : days * daySeconds;
}

const bucketRows: readonly Row<BucketFigures>[] = [
  {
    name: 'efs_bucket_files',
    help: 'Files of the bucket.',
    value: ({ fileCount }) => fileCount,
  },
  {
    name: 'efs_bucket_stored_bytes',
    help: 'Bytes of the files.',
    value: ({ byteCount }) => byteCount,
  },
  {
    name: 'efs_bucket_records_bytes',
    help: 'Bytes of the records of files and links; they count toward the quota.',
    value: ({ overheadBytes }) => overheadBytes,
  },
  {
    name: 'efs_bucket_versions',
    help: 'Former versions of files.',
    value: ({ versionCount }) => versionCount,
  },
  {
    name: 'efs_bucket_versions_bytes',
    help: 'Bytes of former versions; they count toward the quota.',
    value: ({ versionBytes }) => versionBytes,
  },
  {
    name: 'efs_bucket_open_uploads',
    help: 'Uploads that have begun and are not complete.',
    value: ({ openUploads }) => openUploads,
  },
  {
    name: 'efs_bucket_quota_bytes',
    help: 'Quota of the bucket. Absent without one.',
    value: ({ quotaBytes }) => quotaBytes || undefined,
  },
  {
    name: 'efs_bucket_quota_files',
    help: 'Quota of files. Absent without one.',
    value: ({ quotaFiles }) => quotaFiles || undefined,
  },
  {
    name: 'efs_bucket_subscriptions',
    help: 'Subscriptions of canisters to the entries of the bucket.',
    value: ({ subscriptions }) => subscriptions?.all,
  },
  {
    name: 'efs_bucket_subscriptions_waiting',
    help: 'Subscriptions with entries that have not been delivered.',
    value: ({ subscriptions }) => subscriptions?.waiting,
  },
  {
    name: 'efs_bucket_subscriptions_failing',
    help: 'Subscriptions whose last delivery failed, or that are paused.',
    value: ({ subscriptions }) => subscriptions?.failing,
  },
];

const budgetNames = ['anonymousUpdates', 'linkUpdates', 'refusals', 'derivations'] as const;

const budgetRows: readonly Row<BudgetFigures>[] = [
  {
    name: 'efs_budget_left',
    help: 'Updates that the budget allows now.',
    value: ({ left }) => left,
  },
  {
    name: 'efs_budget_burst',
    help: 'Updates that the full budget allows at once.',
    value: ({ burst }) => burst,
  },
  {
    name: 'efs_budget_refill',
    help: 'Updates that the budget regains per 60 s.',
    value: ({ perMinute }) => perMinute,
  },
];

const volumeStates = ['open', 'closed', 'full', 'unknown'] as const;

/** The names of all metrics, as programs read them. */
export const metricNames: readonly string[] = [
  'efs_code_info',
  'efs_volume_state',
  ...[canisterRows, budgetRows, bucketRows].flatMap((rows) => rows.map(({ name }) => name)),
];

/** Something with labels, of which metrics report figures. */
interface Labelled<Facts> {
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Facts;
}

/** Returns all metrics; those without a figure are left out. */
export function familiesOf(canisters: readonly CanisterFigures[]): Family[] {
  const labelled = canisters.map((facts) => ({ facts, labels: labelsOf(facts) }));
  const buckets = labelled.flatMap(({ facts, labels }) =>
    facts.buckets.map((bucket) => ({ facts: bucket, labels: { ...labels, bucket: bucket.id } })),
  );
  const budgets = labelled.flatMap(({ facts: { status, role }, labels }) =>
    role === 'front' || status === undefined
      ? []
      : budgetNames.flatMap((budget) => {
          const facts = status[budget];
          return facts === undefined ? [] : [{ facts, labels: { ...labels, budget } }];
        }),
  );
  return [
    versionFamily(labelled),
    ...gauges(canisterRows, labelled),
    stateFamily(labelled),
    ...gauges(budgetRows, budgets),
    ...gauges(bucketRows, buckets),
  ].filter(({ samples }) => samples.length > 0);
}

function labelsOf({ canisterId, role }: CanisterFigures): Record<string, string> {
  return { canister: canisterId, role };
}

function gauges<Facts>(
  rows: readonly Row<Facts>[],
  labelled: readonly Labelled<Facts>[],
): Family[] {
  return rows.map(({ name, help, value }) => {
    const samples = labelled.flatMap(({ labels, facts }): Sample[] => {
      const figure = value(facts);
      return figure === undefined ? [] : [{ labels, value: Number(figure) }];
    });
    return { name, help, type: 'gauge', samples };
  });
}

function versionFamily(labelled: readonly Labelled<CanisterFigures>[]): Family {
  const samples = labelled.flatMap(({ labels, facts: { status, code } }): Sample[] => {
    const version = code?.version ?? status?.version;
    if (version === undefined) return [];
    return [{ labels: { ...labels, version, module: code?.moduleHash ?? '' }, value: 1 }];
  });
  return { name: 'efs_code', help: 'Version and module hash of the code.', type: 'info', samples };
}

function stateFamily(labelled: readonly Labelled<CanisterFigures>[]): Family {
  const samples = labelled.flatMap(({ labels, facts: { volume } }) =>
    volume === undefined
      ? []
      : volumeStates.map((state) => {
          return { labels: { ...labels, state }, value: Number(volume.state === state) };
        }),
  );
  const help = 'Whether the volume is in this state, by the front.';
  return { name: 'efs_volume_state', help, type: 'gauge', samples };
}
