// The page for operators: the state of each part of the service, red only where somebody must act.

import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { FillBar } from '../parts/fill-bar.tsx';
import { Icon } from '../parts/icon.tsx';
import { addressOf } from '../route.ts';
import { isLocal, thisService } from '../service.ts';
import {
  type Check,
  checksOf,
  type OwnBucket,
  type ServiceFacts,
  type VolumeFacts,
} from '../service-checks.ts';
import type { Session } from '../session.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';

/** Uploads are asked for in so many buckets, those with the most of them. */
const bucketsAskedMax = 20;
/** Fetching a missing key takes seconds. */
const keyLateMs = 60_000;
const againMs = 20_000;

async function ownBuckets({
  storage,
  buckets,
  volumes,
}: Session): Promise<OwnBucket[] | undefined> {
  if (buckets !== undefined) return undefined;
  const records: BucketRecord[] = [];
  try {
    for await (const record of storage.buckets.list()) {
      if (record.callerRole === 'owner') records.push(record);
    }
  } catch (error) {
    // The volume that failed has a check of its own
    if ((await volumes()).length === 1) throw error;
  }
  records.sort((a, b) => b.openUploads - a.openUploads);
  return Promise.all(
    records.map(async (record, index) => {
      if (record.openUploads === 0 || index >= bucketsAskedMax) return { record };
      // The bucket may have been deleted meanwhile.
      const uploads = await storage.uploads.list({ bucket: record.id }).catch(() => undefined);
      return { record, uploads };
    }),
  );
}

type LoadedFacts = Omit<ServiceFacts, 'volumes'> & {
  readonly volumes: readonly Omit<VolumeFacts, 'isKeyLate'>[];
};

async function factsOf(session: Session): Promise<LoadedFacts> {
  const [volumes, buckets, { isAtFront }] = await Promise.all([
    statusesOf(session),
    ownBuckets(session),
    thisService(),
  ]);
  return { volumes, buckets, isAtFront, isLocal: isLocal(), now: Date.now() };
}

/** Returns the status of each canister; fails if none answers. */
async function statusesOf(session: Session): Promise<LoadedFacts['volumes']> {
  const volumes = await session.volumes();
  const answers = await Promise.allSettled(volumes.map(({ storage }) => storage.status()));
  const [first] = answers;
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected')) {
    throw first.reason;
  }
  return volumes.map(({ canisterId }, index) => {
    const answer = answers[index];
    return { canisterId, status: answer?.status === 'fulfilled' ? answer.value : undefined };
  });
}

/** Loads the checks, and again while the key is missing, because it usually arrives by itself. */
function useChecks(session: Session) {
  const checks = useSignal<readonly Check[] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const isLoading = useSignal(false);
  const missingSince = useRef<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shown = useRef<Session | undefined>(undefined);
  async function load(): Promise<void> {
    clearTimeout(timer.current);
    isLoading.value = true;
    failure.value = undefined;
    try {
      const facts = await factsOf(session);
      // The page has been closed, or shows another session.
      if (shown.current !== session) return;
      const lacksKey = ({ status }: LoadedFacts['volumes'][number]) =>
        status?.encryption.isKeyPresent === false;
      const isMissing = facts.volumes.some(lacksKey);
      missingSince.current = isMissing ? (missingSince.current ?? facts.now) : undefined;
      const isLate = facts.now - (missingSince.current ?? facts.now) >= keyLateMs;
      const volumes = facts.volumes.map((volume) => ({
        ...volume,
        isKeyLate: isLate && lacksKey(volume),
      }));
      checks.value = checksOf({ ...facts, volumes });
      if (isMissing) timer.current = setTimeout(() => void load(), againMs);
    } catch (error) {
      if (shown.current !== session) return;
      checks.value = undefined;
      failure.value = sentenceOf(error);
    } finally {
      isLoading.value = false;
    }
  }
  useEffect(() => {
    shown.current = session;
    void load();
    return () => {
      shown.current = undefined;
      clearTimeout(timer.current);
    };
  }, [session]);
  return { checks, failure, isLoading, load };
}

export function ServicePage({ session }: { session: Session }) {
  const { checks, failure, isLoading, load } = useChecks(session);
  const { service: words, page } = texts();
  const { value: found } = checks;
  return (
    <div class="page">
      <div class="files-head">
        <Breadcrumbs page={words.title} />
        {found && (
          <button type="button" disabled={isLoading.value} onClick={() => void load()}>
            {isLoading.value ? words.checking : words.again}
          </button>
        )}
      </div>
      <Failure text={failure.value} onRetry={() => void load()} />
      {found === undefined && failure.value === undefined && <p class="waiting">{page.loading}</p>}
      <p role="status">{found && summaryOf(found)}</p>
      {found && (
        <div class="sections">
          {found.map((check) => (
            <OneCheck key={check.title} check={check} />
          ))}
        </div>
      )}
    </div>
  );
}

function summaryOf(checks: readonly Check[]): string {
  const count = checks.reduce((sum, { acts }) => sum + acts.length, 0);
  const { service: words } = texts();
  return count === 0 ? words.nobody : words.somebody(count);
}

const badges = { fine: 'check', wait: 'pause', unseen: 'lock', act: 'warning' } as const;

function OneCheck({ check }: { check: Check }) {
  const { title, lines, state, acts, bar } = check;
  const { service, copying } = texts();
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="files-head">
        <h2 id={id}>{title}</h2>
        <span class={`badge ${state}`}>
          <Icon name={badges[state]} />
          {service.states[state]}
        </span>
      </div>
      {bar && (
        <div>
          <FillBar {...bar} />
          <p class="ends quiet">
            <span>{bar.ends[0]}</span>
            <span>{bar.ends[1]}</span>
          </p>
        </div>
      )}
      {lines.map(({ text, bucket }) => (
        <p key={`${bucket} ${text}`} class={state === 'unseen' ? 'quiet' : undefined}>
          {bucket && <a href={addressOf({ view: 'bucket', bucket })}>{bucket}</a>}
          {bucket && ': '}
          {text}
        </p>
      ))}
      {acts.map(({ sentence, command }) => (
        <div class="made" key={sentence}>
          <Failure text={sentence} />
          <CopyText text={command} label={copying.theCommand(command)} />
        </div>
      ))}
    </section>
  );
}
